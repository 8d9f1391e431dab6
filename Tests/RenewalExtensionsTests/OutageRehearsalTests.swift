// The outage rehearsal. A quarter of a mass extension fails, for every documented reason, while the API is unavailable,
// returns 429 and loses responses and connections, and a worker crashes.
//
// It needs an Apple that remembers successes by their requestIdentifier (`remembers: successes`), because a request
// with a lost response is sent again within the hour.

import AppStore
import MillraceTime
import Foundation
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15)), .serialized) struct OutageRehearsalTests {
  /// 2,000 subscriptions with MILLRACE_FULL_REHEARSAL, otherwise as many as every test run can afford.
  private static let size = isAlone ? 2_000 : 400
  /// Whether no other test runs in parallel. Only then the meter measures the workers and not the machine.
  private static let isAlone = ProcessInfo.processInfo.environment["MILLRACE_FULL_REHEARSAL"] != nil

  /// The subscriptions that fail and their reasons, by `originalTransactionId`.
  private struct Cast {
    var eligible: [Int64] = []
    var ineligible: [Int64: ExtensionAnswer.Reason] = [:]
  }

  @Test(arguments: [UInt64(7)])
  func `every eligible subscription is extended once, and every other one has its reason`(seed: UInt64) async throws {
    let rehearsal = try Rehearsal(lanes: 4, seed: seed) { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(4), failureShare: 0.2)
    }
    let cast = try Self.settle(rehearsal)
    try await rehearsal.running(["a", "b"]) {
      let began = rehearsal.now
      let campaign = try await rehearsal.startCampaign()
      try Self.loseEligibility(cast, rehearsal)
      try rehearsal.pass(.seconds(60))
      try Self.failTheRest(cast, rehearsal)
      try rehearsal.pass(.seconds(4), duplicates: 25)
      #expect(rehearsal.services.report.asked.contains { $0.endpoint == .massExtendRenewalDate })
      let failed = rehearsal.log.records(in: rehearsal.topics.inputs[0]).count

      Self.inject(rehearsal)
      var meter = BudgetMeter(rehearsal)
      var crashed = false
      try await Self.drive(rehearsal, &meter) { elapsed in
        // The results of the calls in progress are unknown.
        if !crashed, elapsed > .seconds(10) {
          crashed = true
          return true
        }
        return false
      }
      #expect(crashed && rehearsal.processes.count == 3)

      let progress = try await rehearsal.progress(of: campaign)
      let completion = try #require(try await rehearsal.campaigns.table()[campaign.id]?.completion)
      let unclear = try Self.compare(rehearsal, cast, campaign, since: began)
      #expect(progress.waiting == 0 && progress.unclear == unclear && progress.ambiguous == 0)
      #expect(progress.extended == completion.succeeded)
      // Apple does not count two kinds of failures.
      let told = cast.ineligible.values.count { $0 == .familyShared || $0 == .notFound }
      #expect(progress.failures == completion.failed + Int64(told))

      let report = rehearsal.services.report
      #expect(report.broken.isEmpty, "\(report.broken)")
      if Self.isAlone { #expect(meter.use >= 0.9, "\(meter)") }
      #expect(meter.isWithinBudget, "\(meter)")
      #expect(rehearsal.deadLetters().isEmpty)
      let figures = [
        "seed \(seed)", "\(Self.size) subscriptions", "\(failed) notifications", "\(progress.failures) failures",
        "\(progress.applied) extended by retry", "\(progress.refused.values.reduce(0, +)) refused",
        "\(rehearsal.extensionCalls) calls", "\(meter)",
      ]
      print("outage rehearsal: \(figures.joined(separator: ", "))")
      try await Self.reconcile(rehearsal, progress, completion)
    }
  }

  // MARK: - The cast

  private static func settle(_ rehearsal: Rehearsal) throws -> Cast {
    var cast = Cast()
    var all = try rehearsal.subscribe(size)
    let share = max(2, size / 50)
    for reason in [ExtensionAnswer.Reason.ineligible, .maxExtensions] {
      for id in all.prefix(share) { cast.ineligible[id] = reason }
      all.removeFirst(share)
    }
    for id in all.prefix(share / 2) { cast.ineligible[id] = .notFound }
    all.removeFirst(share / 2)
    cast.eligible = all
    for id in try rehearsal.subscribe(share / 2, family: true) { cast.ineligible[id] = .familyShared }
    // Subscriptions that Apple will not know are not part of its own extension.
    rehearsal.world.withState { state in
      for (id, reason) in cast.ineligible where reason == .notFound { state.lapse(id, to: .expired) }
    }
    return cast
  }

  /// Makes subscriptions ineligible between Apple's selection and its processing.
  private static func loseEligibility(_ cast: Cast, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    rehearsal.world.withState { state in
      for (number, (id, reason)) in cast.ineligible.sorted(by: { $0.key < $1.key }).enumerated() {
        switch reason {
        case .ineligible: state.lapse(id, to: number.isMultiple(of: 2) ? .expired : .billingRetry)
        case .maxExtensions: state.useUpExtensions(id, at: now)
        default: break
        }
      }
    }
  }

  /// Writes Apple's failures for subscriptions that cannot be extended, including some that Apple does not know later.
  private static func failTheRest(_ cast: Cast, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    try rehearsal.world.withState { state throws(WorldError) in
      for (id, reason) in cast.ineligible.sorted(by: { $0.key < $1.key })
      where reason == .familyShared || reason == .notFound {
        try state.failExtension(id, at: now)
        if reason == .notFound { state.forget(id) }
      }
    }
    try rehearsal.deliver()
  }

  // MARK: - What goes wrong

  private static func inject(_ rehearsal: Rehearsal) {
    let now = rehearsal.now
    let extend: Set<SimulatedEndpoint> = [.extendSubscriptionRenewalDate]
    func from(_ start: Int64, _ end: Int64, _ effect: FaultEffect, share: Double = 1, count: Int? = nil) {
      rehearsal.inject(
        Fault(
          effect, endpoints: extend, from: now + .seconds(start), until: now + .seconds(end), count: count,
          share: share))
    }
    from(0, 3, .answerLost, share: 0.3)
    from(0, 1, .unauthorized, count: 1)
    from(3, 45, .failure(status: 503, body: .html))
    from(45, 7_200, .tooManyRequests(.milliseconds(from: .seconds(20))), count: 1)
    from(45, 7_200, .failure(status: 500, body: .json(code: 5_000_001, message: "again")), share: 0.05)
    from(45, 7_200, .connectionReset, share: 0.05)
    from(45, 7_200, .truncatedBody(share: 0.5), share: 0.05)
    from(45, 7_200, .answerLost, share: 0.1)
  }

  // MARK: - Time

  /// Advances time until every failure has its event. If `mayCrash` returns true, the first worker crashes and another
  /// one starts.
  private static func drive(
    _ rehearsal: Rehearsal, _ meter: inout BudgetMeter, mayCrash: (Duration) -> Bool
  ) async throws {
    let began = rehearsal.clock.now
    while true {
      await rehearsal.waitForWorkers()
      let living = rehearsal.living
      // After a 429 there is no budget. Lanes without an owner use none of theirs: after a crash, other workers get
      // them when the session ends.
      let isWhole = abs(living.reduce(0) { $0 + $1.turnsPerSecond } - BudgetMeter.perSecond) < 0.001
      let isBusy = isWhole && living.allSatisfy { $0.callersInLine > 0 && !$0.isPaused }
      meter.look(isBusy: isBusy, turns: living.reduce(0) { $0 + $1.turns })
      let elapsed = began.duration(to: rehearsal.clock.now)
      if mayCrash(elapsed) {
        living[0].crash()
        try await rehearsal.start("c")
        try await rehearsal.ready()
        meter.forget()
        continue
      }
      var isResting = true
      for worker in living where await !worker.isAtRest { isResting = false }
      if isResting, isOver(rehearsal) { return }
      guard elapsed < .seconds(24 * 3_600) else { throw HarnessError.restless(after: elapsed) }
      // Workers that wait for rate-limit slots are at rest too. A long step would waste their slots, except one
      // second's worth. A record with five faults in a row waits for six hours.
      let isIdle = isResting && living.allSatisfy { $0.callersInLine == 0 }
      let idleStep: Duration = elapsed < .seconds(900) ? .seconds(5) : .seconds(60)
      try rehearsal.pass(isIdle ? idleStep : .milliseconds(50))
    }
  }

  /// Whether every failure in the log has ended.
  private static func isOver(_ rehearsal: Rehearsal) -> Bool {
    func keys(_ topic: String, _ name: String, _ begins: String) -> Set<[UInt8]?> {
      let records = rehearsal.log.records(in: topic).filter { record in
        record.headers.contains { $0.name == name && ($0.value ?? []).starts(with: begins.utf8) }
      }
      return Set(records.map(\.key))
    }
    return keys(rehearsal.topics.inputs[0], "ce_subtype", "FAILURE")
      == keys(rehearsal.topics.events, "ce_type", "dev.millrace.renewal-extensions.extension.")
  }

  // MARK: - The end

  /// Compares the extensions and events with the cast.
  /// - Returns: The number of subscriptions whose result is unclear: an hour after a lost answer Apple is asked, and it does
  ///   not know some of them.
  private static func compare(
    _ rehearsal: Rehearsal, _ cast: Cast, _ campaign: Campaign, since began: Timestamp
  ) throws -> Int64 {
    for id in cast.eligible {
      #expect(rehearsal.extensions(of: id, since: began) == 1, "\(id) is eligible")
    }
    var refusals: [Int64: [String]] = [:]
    var unclear: Set<Int64> = []
    var seen: Set<String> = []
    for event in try rehearsal.events() where event.name.hasPrefix("extension.") {
      #expect(seen.insert(event.id).inserted)
      let problems = try SchemaCheck("renewal-extensions.\(event.name)").problems(.object(event.data))
      #expect(problems.isEmpty, "\(event.name): \(problems)")
      #expect(event.data["campaign"] == .string(campaign.id))
      guard case .string(let text)? = event.data["originalTransactionId"], let id = Int64(text) else { continue }
      if event.name == "extension.refused", case .string(let reason)? = event.data["reason"] {
        refusals[id, default: []].append(reason)
        #expect(event.data["code"] != nil)
      } else if event.name == "extension.unclear", cast.ineligible[id] == .notFound {
        unclear.insert(id)
      } else {
        #expect(event.name == "extension.applied" && cast.ineligible[id] == nil, "\(event)")
      }
    }
    for (id, reason) in cast.ineligible {
      #expect(refusals[id] == (unclear.contains(id) ? nil : [reason.rawValue]), "\(id)")
      #expect(rehearsal.extensions(of: id, since: began) == 0, "\(id) is not eligible")
    }
    #expect(refusals.count + unclear.count == cast.ineligible.count)
    return Int64(unclear.count)
  }

  private static func reconcile(
    _ rehearsal: Rehearsal, _ progress: CampaignProgress, _ completion: Campaign.Completion
  ) async throws {
    rehearsal.time.advance(by: .seconds(8 * 86_400))
    let end = ContinuousClock.now + .seconds(120)
    func events(_ name: String) throws -> [JSONObject] { try rehearsal.events().filter { $0.name == name }.map(\.data) }
    while try events("campaign.differs").isEmpty, ContinuousClock.now < end {
      rehearsal.time.advance(by: .milliseconds(200))
      for _ in 0..<100 { await Task.yield() }
    }
    let completed = try events("campaign.completed")
    #expect(completed.count == 1 && completed.first?["succeeded"] == .integer(completion.succeeded))
    let differs = try #require(try events("campaign.differs").first)
    #expect(try SchemaCheck("renewal-extensions.campaign.differs").problems(.object(differs)).isEmpty)
    #expect(differs["apple"] == ["failed": .integer(completion.failed), "succeeded": .integer(completion.succeeded)])
    guard case .object(let seen)? = differs["seen"] else { return }
    #expect(seen["failures"] == .integer(progress.failures) && seen["extended"] == .integer(progress.extended))
  }
}

/// The part of the budget that was used while every worker had waiting calls.
private struct BudgetMeter: CustomStringConvertible {
  /// Apple's 20 calls per second times the share of 0.8.
  static let perSecond = 16.0

  private let clock: MillraceClock
  private var last: (at: MillraceClock.Instant, turns: Double)?
  private var busy = Duration.zero
  private var turns = 0.0

  init(_ rehearsal: Rehearsal) { clock = rehearsal.clock }

  /// Records, before time advances, whether calls wait during the next step, and the slots used so far. It counts slots
  /// and not calls, because a slot taken in a busy step may become a call in an idle one.
  mutating func look(isBusy: Bool, turns taken: Double) {
    let now = clock.now
    if let last {
      busy += last.at.duration(to: now)
      turns += taken - last.turns
    }
    last = isBusy ? (now, taken) : nil
  }

  mutating func forget() { last = nil }

  /// Whether the use is within the budget. Idle time allows a burst of at most one second.
  var isWithinBudget: Bool { turns <= Self.perSecond * (busy / .seconds(1) + 1) }

  var use: Double { busy > .zero ? turns / (Self.perSecond * (busy / .seconds(1))) : 0 }

  var description: String {
    let percent = (use * 1_000).rounded() / 10
    return "\(Int(turns)) calls in \(busy / .seconds(1)) s in which work waited: \(percent) % of the budget"
  }
}
