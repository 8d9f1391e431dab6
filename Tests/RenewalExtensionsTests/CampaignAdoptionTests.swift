// Tests the adoption of mass extensions that another tool has started.

import AppStore
import AppStoreServerAPI
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct CampaignAdoptionTests {
  /// Starts a mass extension that Millrace does not know.
  private func foreign(_ rehearsal: Rehearsal) async throws -> Campaign {
    let campaign = try rehearsal.draft()
    _ = try await rehearsal.client().extendRenewalDateForAllActiveSubscribers(campaign.request, in: .production)
    return campaign
  }

  private func fail(_ id: Int64, _ rehearsal: Rehearsal) throws {
    let now = rehearsal.now
    try rehearsal.world.withState { state throws(WorldError) in try state.failExtension(id, at: now) }
    try rehearsal.deliver()
  }

  private func requeued(
    _ campaign: Campaign, _ rehearsal: Rehearsal, report: @escaping @Sendable () throws -> Void = {}
  ) async throws -> OperationSummary {
    try await CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock).requeueUnmatched(
      by: campaign, why: "adopted", patience: .seconds(30)
    ) { _ in try report() }
  }

  /// A campaign for the failures of the next two hours.
  private func window(_ rehearsal: Rehearsal) throws -> Campaign {
    var campaign = try rehearsal.draft()
    campaign.until = rehearsal.now + .seconds(7_200)
    return campaign
  }

  @Test func `the failures of an adopted extension run, those that waited and later ones, each once`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(60), failureShare: 0.3)
    }
    let ids = try rehearsal.subscribe(20)
    try await rehearsal.running(["a"]) {
      let started = try await foreign(rehearsal)
      for _ in 0..<13 {
        try rehearsal.pass(.seconds(10))
        try await rehearsal.settle()
      }
      let dead = rehearsal.deadLetters()
      #expect(!dead.isEmpty && dead.allSatisfy { $0.reason == "campaign-not-found" } && rehearsal.extensionCalls == 0)
      let start = try rehearsal.start()
      let campaign = try await start.adoptable(started)
      #expect(campaign.completion?.failed == Int64(dead.count) && campaign.state == .accepted)
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      #expect(try await decisions.unmatched(by: campaign).count == dead.count)
      #expect(try await start.adopt(campaign, knowing: [], why: "our script") == .adopted)
      #expect(try await requeued(campaign, rehearsal).done == dead.count)
      try await rehearsal.settle()
      #expect(try await decisions.unmatched(by: campaign).isEmpty)
      #expect(rehearsal.extensionCalls == dead.count)
      #expect(ids.allSatisfy { rehearsal.extensions(of: $0) == 1 })
      #expect(try await rehearsal.progress(of: campaign).applied == Int64(dead.count))
      // A failure that Apple delivers late.
      let late = try rehearsal.subscribe(1)[0]
      try fail(late, rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.extensions(of: late) == 1)
    }
    let entries = try await AuditLog(on: rehearsal.log, prefix: "").trail().entries
    let entry = try #require(entries.first { $0.action == .campaignAdopt })
    #expect(entry.by == "ann" && entry.why == "our script" && entry.result?.rawValue == "done")
    #expect(entry.selection?["extendByDays"] == 7 && entry.selection?["requestedAt"] != nil)
    for record in rehearsal.log.records(in: AuditRecord.topic) {
      #expect(try SchemaCheck("millrace.audit").problems(try JSON(parsing: record.value ?? [])).isEmpty)
    }
  }

  @Test func `an extension that Apple does not have is not adopted`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(3)
    var started = try await foreign(rehearsal)
    started.productId = "com.example.app.yearly"
    for campaign in [try rehearsal.draft(), started] {
      await #expect(throws: OperationError.self) { try await rehearsal.start().adoptable(campaign) }
    }
    #expect(rehearsal.log.records(in: CampaignRecord.topic).isEmpty)
  }

  @Test func `a campaign is adopted once`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(3)
    let campaign = try await foreign(rehearsal)
    let start = try rehearsal.start()
    let running = try await start.adoptable(campaign)
    #expect(running.completion == nil && running.seenAt == rehearsal.now)
    #expect(try await start.adopt(running, knowing: [], why: "w") == .adopted)
    #expect(try await rehearsal.campaigns.table()[campaign.id] == running)
    let known = await #expect(throws: OperationError.self) { try await start.adoptable(campaign) }
    #expect(known?.description.contains("known") == true)
  }

  @Test func `an extension that was over before the named time is not adopted`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(3)
    var campaign = try await foreign(rehearsal)
    try rehearsal.pass(.seconds(3_600))
    campaign.requestedAt = rehearsal.now
    let described = campaign
    let late = await #expect(throws: OperationError.self) { try await rehearsal.start().adoptable(described) }
    #expect(late?.place == "--since")
  }

  @Test func `a window of time needs no status, and ends`() async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(2)
    try await rehearsal.running(["a"]) {
      var campaign = try rehearsal.draft()
      campaign.until = rehearsal.now + .seconds(7_200)
      let start = try rehearsal.start()
      campaign = try await start.adoptable(campaign)
      #expect(try await start.adopt(campaign, knowing: [], why: "its identifier is lost") == .adopted)
      try rehearsal.pass(.seconds(7_000))
      try fail(ids[0], rehearsal)
      try await rehearsal.settle()
      try rehearsal.pass(.seconds(600))
      try fail(ids[1], rehearsal)
      try await rehearsal.settle()
    }
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 0])
    #expect(rehearsal.deadLetters().map(\.reason) == ["campaign-not-found"])
    #expect(rehearsal.statusCalls == 0)
  }

  @Test func `an adoption that overlaps a campaign needs consent, and does nothing beside a new one`() async throws {
    let rehearsal = try Rehearsal()
    _ = try rehearsal.subscribe(3)
    let own = try await rehearsal.startCampaign()
    let start = try rehearsal.start()
    var campaign = try rehearsal.draft()
    campaign.until = rehearsal.now + .seconds(3_600)
    campaign = try await start.adoptable(campaign)
    let overlapping = try await start.overlapping(campaign)
    #expect(overlapping.map(\.id) == [own.id])
    let plan = CampaignAdoptionPlan(campaign, overlapping: overlapping, waiting: 2)
    #expect(throws: OperationError.self) { try plan.check(isAgreed: false) }
    #expect(throws: Never.self) { try plan.check(isAgreed: true) }
    #expect(
      plan.lines.contains { $0.contains("Apple was not asked") } && plan.lines.contains { $0.contains("2 failures") })
    guard case .withdrawn(let other) = try await start.adopt(campaign, knowing: [], why: "w") else {
      throw NotAccepted()
    }
    #expect(other.id == own.id)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .refused)
    // The operator has seen the other one, and adopts it anyway.
    #expect(try await start.adopted(campaign) == nil)
    campaign = try await start.adoptable(campaign)
    #expect(try await start.adopt(campaign, knowing: overlapping, why: "w") == .adopted)
    #expect(try await rehearsal.campaigns.table()[campaign.id]?.state == .accepted)
  }

  @Test func `failures that became dead letters before the answer to the question run, and those of a moment later`()
    async throws
  {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(3)
    try await rehearsal.running(["a"]) {
      let start = try rehearsal.start()
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      let described = try window(rehearsal)
      try fail(ids[0], rehearsal)
      try await rehearsal.settle()
      let campaign = try await start.adoptable(described)
      #expect(try await decisions.unmatched(by: campaign).count == 1)
      // While the operator reads the question.
      for id in ids[1...] { try fail(id, rehearsal) }
      try await rehearsal.settle()
      #expect(try await start.adopt(campaign, knowing: [], why: "w") == .adopted)
      // A handler that had read the campaigns just before writes its dead letter during the first pass.
      let record = try #require(rehearsal.log.records(in: rehearsal.topics.deadLetters).first)
      let late = ProducerRecord(
        topic: record.topic, partition: record.partition, key: record.key, value: record.value,
        headers: record.headers.map { $0.name == "ce_id" ? RecordHeader("ce_id", "late") : $0 })
      let isWritten = Mutex(false)
      let summary = try await requeued(campaign, rehearsal) {
        let isFirst = isWritten.withLock { value in
          defer { value = true }
          return !value
        }
        if isFirst { try rehearsal.log.append(late) }
      }
      #expect(summary.done == 4 && summary.status == .success)
      try await rehearsal.settle()
      #expect(try await decisions.unmatched(by: campaign).isEmpty)
    }
    #expect(ids.map { rehearsal.extensions(of: $0) } == [1, 1, 1])
  }

  @Test func `a failure that belongs to another campaign is sent to the worker once`() async throws {
    let rehearsal = try Rehearsal()
    let ids = try rehearsal.subscribe(4)
    try await rehearsal.running(["a"]) {
      var campaign = try window(rehearsal)
      campaign.storefronts = ["JPN"]
      for id in ids { try fail(id, rehearsal) }
      try await rehearsal.settle()
      let start = try rehearsal.start()
      campaign = try await start.adoptable(campaign)
      #expect(try await start.adopt(campaign, knowing: [], why: "w") == .adopted)
      #expect(try await requeued(campaign, rehearsal).done == ids.count)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensionCalls == 0)
    #expect(rehearsal.deadLetters().count == 2 * ids.count, "each died twice")
  }

  @Test(arguments: [false, true])
  func `an adoption that ended before its failures were sent continues`(hasStatus: Bool) async throws {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    let id = try rehearsal.subscribe(1)[0]
    try await rehearsal.running(["a"]) {
      let described = try await hasStatus ? foreign(rehearsal) : window(rehearsal)
      try fail(id, rehearsal)
      try await rehearsal.settle()
      let start = try rehearsal.start()
      #expect(try await start.adopted(described) == nil)
      let campaign = try await start.adoptable(described)
      #expect(try await start.adopt(campaign, knowing: [], why: "w") == .adopted)
      // The command is repeated. Without an identifier of Apple's, it makes a new one.
      var again = described
      if !hasStatus { again.id = CampaignStart.newID() }
      let known = try #require(try await start.adopted(again))
      #expect(known.id == campaign.id)
      let plan = CampaignAdoptionPlan(known, overlapping: [], waiting: 1, isKnown: true)
      #expect(plan.lines.contains { $0.contains("known as \(known.id) and accepted") })
      #expect(try await requeued(known, rehearsal).done == 1)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensions(of: id) == 1)
  }

  @Test func `wrong days are corrected by a cancellation and another adoption, until a retry has begun`() async throws {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    let id = try rehearsal.subscribe(1)[0]
    let end = rehearsal.world.withState { $0.subscriptions[id]?.expires }
    try await rehearsal.running(["a"]) {
      let right = try await foreign(rehearsal)
      var wrong = right
      wrong.days = 70
      let start = try rehearsal.start()
      wrong = try await start.adoptable(wrong)
      #expect(try await start.adopt(wrong, knowing: [], why: "w") == .adopted)
      #expect(try await start.adopted(right) == nil)
      let known = await #expect(throws: OperationError.self) { try await start.adoptable(right) }
      for words in ["70 days", "campaigns cancel \(right.id)", "dead-letters requeue --worker renewal-extensions"] {
        #expect(known?.description.contains(words) == true, "\(known?.description ?? "")")
      }
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      _ = try await decisions.cancel(right.id, why: "the wrong days")
      let campaign = try await start.adoptable(right)
      #expect(try await start.adopt(campaign, knowing: [], why: "w") == .adopted)
      let stored = try #require(try await rehearsal.campaigns.table()[right.id])
      #expect(stored.days == 7 && stored.cancellation == nil)
      try fail(id, rehearsal)
      try await rehearsal.settle()
      #expect(rehearsal.extensions(of: id) == 1)
      #expect(rehearsal.world.withState { $0.subscriptions[id]?.expires } == end.map { $0 + .seconds(7 * 86_400) })
      // Cancelled again, with the same clock.
      #expect(try await decisions.cancel(right.id, why: "enough").cancellation != nil)
      #expect(try await rehearsal.campaigns.table()[right.id]?.cancellation != nil)
      let begun = await #expect(throws: OperationError.self) { try await start.adoptable(right) }
      #expect(begun?.description.contains("1 retry had begun") == true, "\(begun?.description ?? "")")
    }
  }

  @Test func `two operators who read the question at once adopt one campaign with the terms of the first`() async throws
  {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    _ = try rehearsal.subscribe(1)
    let right = try await foreign(rehearsal)
    var wrong = right
    wrong.days = 70
    let start = try rehearsal.start()
    let plans = (try await start.adoptable(right), try await start.adoptable(right), try await start.adoptable(wrong))
    #expect(try await start.adopt(plans.0, knowing: [], why: "w") == .adopted)
    rehearsal.time.advance(by: .seconds(60))
    #expect(try await start.adopt(plans.1, knowing: [], why: "w") == .adopted)
    let known = await #expect(throws: OperationError.self) { try await start.adopt(plans.2, knowing: [], why: "w") }
    #expect(known?.description.contains("7 days") == true, "\(known?.description ?? "")")
    #expect(try await rehearsal.campaigns.table()[right.id] == plans.0)
    // A cancellation that the third operator has not seen counts, too.
    let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
    _ = try await decisions.cancel(right.id, why: "enough")
    for plan in [plans.1, plans.2] {
      let cancelled = await #expect(throws: OperationError.self) { try await start.adopt(plan, knowing: [], why: "w") }
      #expect(cancelled?.description.contains("cancelled") == true, "\(cancelled?.description ?? "")")
    }
    #expect(try await rehearsal.campaigns.table()[right.id]?.days == 7)
  }

  @Test func `a cancellation that the operator has not seen counts, whatever its clock`() async throws {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    _ = try rehearsal.subscribe(1)
    let start = try rehearsal.start()
    let plan = try await start.adoptable(try await foreign(rehearsal))
    // Another operator, whose clock is a minute behind, has adopted and cancelled it meanwhile.
    var other = plan
    let time = try #require(plan.adoptedAt)
    other.adoptedAt = time - .seconds(60)
    let cancellation = Campaign.Cancellation(at: time - .seconds(30), by: "bob", why: "the wrong days")
    try await rehearsal.campaigns.append([.campaign(other), .cancellation(campaign: plan.id, cancellation)])
    let error = await #expect(throws: OperationError.self) { try await start.adopt(plan, knowing: [], why: "w") }
    #expect(error?.description.contains("bob cancelled it") == true, "\(error?.description ?? "")")
    // An operator who has seen the cancellation may adopt it again.
    #expect(try await start.adopt(try await start.adoptable(plan), knowing: [], why: "w") == .adopted)
    #expect(try await rehearsal.campaigns.table()[plan.id]?.cancellation == nil)
  }

  @Test func `an adoption stops if another one with other terms is at work`() async throws {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    _ = try rehearsal.subscribe(1)
    let start = try rehearsal.start()
    let plan = try await start.adoptable(try await foreign(rehearsal))
    let (run, audit) = (CommandID.new(), AuditLog(on: rehearsal.log, prefix: ""))
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(
        run: run, .campaignAdopt, phase, by: "bob", source: "millrace", at: rehearsal.now, target: plan.id,
        selection: ["extendByDays": 70])
    }
    try await audit.append([record(.started(parts: 1))])
    let error = await #expect(throws: OperationError.self) { try await start.adopt(plan, knowing: [], why: "w") }
    #expect(error?.description.contains("bob adopts it with other terms") == true, "\(error?.description ?? "")")
    #expect(try await rehearsal.campaigns.table()[plan.id] == nil)
    try await audit.append([record(.ended(part: AuditRecord.everything, result: .failed("no"), counts: []))])
    #expect(try await start.adopt(plan, knowing: [], why: "w") == .adopted)
  }

  @Test func `failures that a cancelled adoption withheld run after another adoption if they are replayed`()
    async throws
  {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    let id = try rehearsal.subscribe(1)[0]
    try await rehearsal.running(["a"]) {
      let right = try await foreign(rehearsal)
      var wrong = right
      wrong.days = 70
      let start = try rehearsal.start()
      #expect(try await start.adopt(try await start.adoptable(wrong), knowing: [], why: "w") == .adopted)
      let decisions = try CampaignDecisions(rehearsal.campaigns, author: "ann", clock: rehearsal.clock)
      _ = try await decisions.cancel(right.id, why: "the wrong days")
      try fail(id, rehearsal)
      try await rehearsal.settle()
      let campaign = try await start.adoptable(right)
      #expect(try await start.adopt(campaign, knowing: [], why: "w") == .adopted)
      #expect(try await requeued(campaign, rehearsal).done == 0 && rehearsal.extensionCalls == 0)
      try rehearsal.log.replay(to: rehearsal.topics, reapply: true)
      try await rehearsal.settle()
      try rehearsal.log.replay(to: rehearsal.topics, reapply: true)
      try await rehearsal.settle()
    }
    #expect(rehearsal.extensions(of: id) == 1 && rehearsal.extensionCalls == 1)
    #expect(try rehearsal.events().map(\.name) == ["extension.withheld", "extension.applied"])
  }

  /// An App Store that knows mass extensions by an identifier in upper case only.
  private struct UpperCaseExchange: HTTPExchange {
    let exchange: SimulatedExchange

    func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
      let name = request.url.split(separator: "/").last ?? ""
      guard request.url.contains("/extend/mass/"), request.method == .get, name != name.uppercased() else {
        return try await exchange.send(request)
      }
      let body =
        #"{"errorCode":4040009,"errorMessage":"The server didn't find a subscription-renewal-date extension."}"#
      return ExchangeAnswer(status: 404, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
    }
  }

  @Test func `Apple is asked for an adopted identifier in both cases, and for another one only as it was sent`()
    async throws
  {
    let rehearsal = try Rehearsal { $0.massExtension = MassExtensionSettings(startDelay: .seconds(86_400)) }
    _ = try rehearsal.subscribe(1)
    let campaign = try await foreign(rehearsal)
    let client = try rehearsal.client(over: UpperCaseExchange(exchange: rehearsal.appStore))
    let start = CampaignStart(rehearsal.campaigns, client: client, clock: rehearsal.clock)
    #expect(try await start.find(campaign, by: "ann") == nil && rehearsal.statusCalls == 0)
    #expect(try await start.adoptable(campaign).seenAt == rehearsal.now)
  }

  @Test func `extensions that Apple reported before the adoption are no difference`() async throws {
    let rehearsal = try Rehearsal { settings in
      settings.massExtension = MassExtensionSettings(startDelay: .seconds(60), duration: .seconds(60), failureShare: 0)
    }
    _ = try rehearsal.subscribe(20)
    let campaign = try await foreign(rehearsal)
    try await rehearsal.running(["a"]) {
      for step in 0..<13 {
        try rehearsal.pass(.seconds(10))
        try await rehearsal.settle()
        guard step == 8 else { continue }
        let start = try rehearsal.start()
        let running = try await start.adoptable(campaign)
        #expect(running.completion == nil)
        #expect(try await start.adopt(running, knowing: [], why: "w") == .adopted)
      }
      let extended = try await rehearsal.progress(of: campaign).extended
      #expect(extended > 0 && extended < 20, "\(extended)")
      rehearsal.time.advance(by: .seconds(8 * 86_400))
      try await rehearsal.passUntil {
        rehearsal.log.records(in: rehearsal.topics.ledger).contains { record in
          String(decoding: record.key ?? [], as: UTF8.self).contains("compared/")
        }
      }
    }
    #expect(try rehearsal.events().map(\.name) == ["campaign.completed"])
  }
}
