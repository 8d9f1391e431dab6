// Tests `millrace api extend` with the simulated App Store.

import AppStore
import AppStoreServerAPI
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Operations
@testable import RenewalExtensions

@Suite(.timeLimit(.minutes(15))) struct ExtendOperationTests {
  private func operation(_ rehearsal: Rehearsal) throws -> ExtendOperation {
    ExtendOperation(
      try rehearsal.client(), in: .production, audit: AuditLog(on: rehearsal.log, prefix: ""), by: "ann",
      clock: rehearsal.clock)
  }

  private func entries(_ rehearsal: Rehearsal) async throws -> [AuditEntry] {
    try await AuditLog(on: rehearsal.log, prefix: "").trail().entries
  }

  @Test func `a customer is extended, and the audit trail has the request and the operator`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    #expect(plan.earlier == nil && rehearsal.extensionCalls == 0)
    #expect(plan.lines.contains { $0.contains("7 days, reason 1 (customer satisfaction)") })
    let answer = try await operation.run(plan, why: "ticket 4711")
    guard case .applied(let date) = answer else { throw NotAccepted() }
    #expect(date == rehearsal.world.withState { $0.subscriptions[id]?.expires } && answer.status == .success)
    #expect(rehearsal.extensions(of: id) == 1)
    let entry = try #require(try await entries(rehearsal).first)
    #expect(entry.action == .extend && entry.by == "ann" && entry.why == "ticket 4711" && entry.target == "\(id)")
    #expect(entry.result?.rawValue == "done" && entry.selection?["extendByDays"] == 7)
    for record in rehearsal.log.records(in: AuditRecord.topic) {
      #expect(try SchemaCheck("millrace.audit").problems(try JSON(parsing: record.value ?? [])).isEmpty)
    }
  }

  @Test(arguments: [(0, 1, "--days"), (91, 1, "--days"), (7, 4, "--reason"), (7, -1, "--reason")])
  func `days and reasons beyond Apple's limits are refused`(days: Int, reason: Int, flag: String) async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let error = await #expect(throws: OperationError.self) {
      try await operation(rehearsal).plan("\(id)", days: days, reason: reason, identifier: nil)
    }
    #expect(error?.place == flag && rehearsal.appStore.asked.isEmpty)
  }

  @Test func `a subscription that Apple would not extend is refused before the call`() async throws {
    let rehearsal = try Rehearsal()
    let (expired, shared) = (try rehearsal.subscribe(1)[0], try rehearsal.subscribe(1, family: true)[0])
    rehearsal.world.withState { $0.lapse(expired, to: .expired) }
    let operation = try operation(rehearsal)
    for (id, word) in [("\(expired)", "active"), ("\(shared)", "family"), ("1", "")] {
      let error = await #expect(throws: (any Error).self) {
        try await operation.plan(id, days: 7, reason: 1, identifier: nil)
      }
      #expect(word.isEmpty || "\(error as Any)".contains(word), "\(error as Any)")
    }
    #expect(rehearsal.extensionCalls == 0)
    #expect(try await entries(rehearsal).isEmpty)
  }

  @Test func `the third extension of a customer within a year is refused`() async throws {
    let rehearsal = try Rehearsal()
    let id = "\(try rehearsal.subscribe(1)[0])"
    let operation = try operation(rehearsal)
    for _ in 0..<2 {
      let plan = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
      guard case .applied = try await operation.run(plan, why: "w") else { throw NotAccepted() }
    }
    let error = await #expect(throws: OperationError.self) {
      try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    }
    #expect(error?.description.contains("2 times within 365 days") == true)
    #expect(rehearsal.extensionCalls == 2)
  }

  @Test(arguments: [FaultEffect.answerLost, .connectionReset])
  func `after a lost answer, a repetition asks Apple first and extends once`(fault: FaultEffect) async throws {
    // Only Millrace prevents that an effect is caused twice.
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    rehearsal.inject(Fault(fault, endpoints: [.extendSubscriptionRenewalDate], count: 1))
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    let unclear = try await operation.run(plan, why: "w")
    guard case .unclear = unclear else { throw NotAccepted() }
    let identifier = try #require(plan.request.requestIdentifier)
    #expect(unclear.sentence(plan).contains("--request-identifier \(identifier)") && unclear.status == .failure)
    #expect(try await entries(rehearsal).last?.result?.rawValue == "unclear")
    await #expect(throws: OperationError.self) {
      try await operation.plan("\(id)", days: 8, reason: 1, identifier: identifier)
    }
    let again = try await operation.plan("\(id)", days: 7, reason: 1, identifier: identifier)
    #expect((again.earlier == nil) == (fault == .connectionReset))
    guard case .applied = try await operation.run(again, why: "w") else { throw NotAccepted() }
    #expect(rehearsal.extensions(of: id) == 1)
    // The audit trail has the outcome, whether Apple was asked or extended it now.
    #expect(try await entries(rehearsal).map { $0.result?.rawValue } == ["unclear", "done"])
    let third = try await operation.plan("\(id)", days: 7, reason: 1, identifier: identifier)
    guard case .applied = try await operation.run(third, why: "w") else { throw NotAccepted() }
    #expect(try await entries(rehearsal).count == 2 && rehearsal.extensions(of: id) == 1)
  }

  /// Sets the end of a subscription's period, as a change that the command does not know.
  private func setEnd(of id: Int64, _ end: Timestamp?, _ rehearsal: Rehearsal) throws {
    let end = try #require(end)
    try rehearsal.world.withState { state in
      let transaction = try #require(state.subscriptions[id]?.transactionId)
      state.subscriptions[id]?.expires = end
      state.transactions[transaction]?.expires = end
    }
  }

  private func end(of id: Int64, _ rehearsal: Rehearsal) -> Timestamp? {
    rehearsal.world.withState { $0.subscriptions[id]?.expires }
  }

  @Test func `a request whose success is in the audit trail is not sent again, whatever the dates say`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    let (operation, old) = (try operation(rehearsal), end(of: id, rehearsal))
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    guard case .applied = try await operation.run(plan, why: "w") else { throw NotAccepted() }
    for change in [Duration.zero, .seconds(3 * 86_400)] {
      try setEnd(of: id, old.map { $0 + change }, rehearsal)
      let again = try await operation.plan("\(id)", days: 7, reason: 1, identifier: plan.request.requestIdentifier)
      #expect(try await operation.run(again, why: "w") == .applied(effectiveDate: nil))
    }
    #expect(rehearsal.extensionCalls == 1)
    #expect(try await entries(rehearsal).count == 1)
  }

  @Test func `a request that Apple refused had no effect, whatever the dates say`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let (operation, old, now) = (try operation(rehearsal), end(of: id, rehearsal), rehearsal.now)
    rehearsal.world.withState { $0.useUpExtensions(id, at: now) }
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    guard case .refused = try await operation.run(plan, why: "w") else { throw NotAccepted() }
    try setEnd(of: id, old.map { $0 + .seconds(7 * 86_400) }, rehearsal)
    let again = try await operation.plan("\(id)", days: 7, reason: 1, identifier: plan.request.requestIdentifier)
    #expect(again.earlier == nil)
  }

  @Test func `a repetition with another reason is refused`() async throws {
    let rehearsal = try Rehearsal()
    let id = "\(try rehearsal.subscribe(1)[0])"
    let operation = try operation(rehearsal)
    let plan = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    _ = try await operation.run(plan, why: "w")
    let error = await #expect(throws: OperationError.self) {
      try await operation.plan(id, days: 7, reason: 3, identifier: plan.request.requestIdentifier)
    }
    #expect(error?.place == "--reason")
  }

  @Test(arguments: [true, false])
  func `before a request is sent again, status and limit are checked`(isExpired: Bool) async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    let (operation, old) = (try operation(rehearsal), end(of: id, rehearsal))
    rehearsal.inject(Fault(.connectionReset, endpoints: [.extendSubscriptionRenewalDate], count: 1))
    let lost = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    guard case .unclear = try await operation.run(lost, why: "w") else { throw NotAccepted() }
    if isExpired {
      rehearsal.world.withState { $0.lapse(id, to: .expired) }
    } else {
      for _ in 0..<2 {
        let other = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
        guard case .applied = try await operation.run(other, why: "w") else { throw NotAccepted() }
      }
      try setEnd(of: id, old, rehearsal)
    }
    let error = await #expect(throws: OperationError.self) {
      try await operation.plan("\(id)", days: 7, reason: 1, identifier: lost.request.requestIdentifier)
    }
    #expect(error?.description.contains(isExpired ? "active" : "2 times within 365 days") == true)
  }

  @Test func `the effect of a request whose process died ends its entry in the audit trail, and counts`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = "\(try rehearsal.subscribe(1)[0])"
    let operation = try operation(rehearsal)
    let plan = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    let started = AuditRecord(
      run: "died", .extend, .started(parts: 1), by: "ann", source: "millrace", at: rehearsal.now, target: id,
      selection: plan.selection(bundleId: Rehearsal.bundleId, .production))
    try await AuditLog(on: rehearsal.log, prefix: "").append([started])
    _ = try await rehearsal.client().extendSubscriptionRenewalDate(id, plan.request, in: .production)
    let again = try await operation.plan(id, days: 7, reason: 1, identifier: plan.request.requestIdentifier)
    guard case .applied = try await operation.run(again, why: "w") else { throw NotAccepted() }
    #expect(try await entries(rehearsal).map { $0.result?.rawValue } == ["done"] && rehearsal.extensionCalls == 1)
    let second = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    guard case .applied = try await operation.run(second, why: "w") else { throw NotAccepted() }
    await #expect(throws: OperationError.self) { try await operation.plan(id, days: 7, reason: 1, identifier: nil) }
  }

  @Test(arguments: ["", String(repeating: "x", count: 129)])
  func `an identifier beyond Apple's limits is refused`(identifier: String) {
    let error = #expect(throws: OperationError.self) {
      try ExtendOperation.request(days: 1, reason: 0, identifier: identifier)
    }
    #expect(error?.place == "--request-identifier")
    for identifier in ["x", String(repeating: "x", count: 128)] {
      for days in [1, 90] {
        #expect(throws: Never.self) { try ExtendOperation.request(days: days, reason: 0, identifier: identifier) }
      }
    }
  }

  @Test func `of two operators who read the question at once, one extends`() async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    func plan() async throws -> ExtendOperation.Plan {
      try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    }
    let (first, second) = (try await plan(), try await plan())
    guard case .applied = try await operation.run(first, why: "w") else { throw NotAccepted() }
    let error = await #expect(throws: OperationError.self) { _ = try await operation.run(second, why: "w") }
    #expect(error?.description.contains("has requested an extension since") == true)
    #expect(rehearsal.extensions(of: id) == 1 && rehearsal.extensionCalls == 1)
    // The refused run is over, so a new plan can be run.
    let third = try await plan()
    #expect(third.open.isEmpty)
    guard case .applied = try await operation.run(third, why: "w") else { throw NotAccepted() }
  }

  @Test func `a new request shows the earlier ones whose outcome is unknown`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = "\(try rehearsal.subscribe(1)[0])"
    let operation = try operation(rehearsal)
    rehearsal.inject(Fault(.answerLost, endpoints: [.extendSubscriptionRenewalDate], count: 1))
    let plan = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    #expect(!plan.lines.contains { $0.contains("--request-identifier") })
    guard case .unclear = try await operation.run(plan, why: "w") else { throw NotAccepted() }
    let identifier = try #require(plan.request.requestIdentifier)
    let other = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    #expect(other.lines.contains { $0.contains("ann") && $0.contains("--request-identifier \(identifier)") })
    // Its outcome becomes known.
    let again = try await operation.plan(id, days: 7, reason: 1, identifier: identifier)
    guard case .applied = try await operation.run(again, why: "w") else { throw NotAccepted() }
    let third = try await operation.plan(id, days: 7, reason: 1, identifier: nil)
    #expect(!third.lines.contains { $0.contains("--request-identifier") })
  }

  @Test(arguments: [FaultEffect.answerLost, .connectionReset])
  func `a request that is repeated a day after a renewal extends at most once`(fault: FaultEffect) async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    rehearsal.inject(Fault(fault, endpoints: [.extendSubscriptionRenewalDate], count: 1))
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    guard case .unclear = try await operation.run(plan, why: "w") else { throw NotAccepted() }
    try rehearsal.pass(try #require(end(of: id, rehearsal)) - rehearsal.now + .seconds(86_400))
    let again = try await operation.plan("\(id)", days: 7, reason: 1, identifier: plan.request.requestIdentifier)
    #expect((again.earlier == nil) == (fault == .connectionReset))
    guard case .applied = try await operation.run(again, why: "w") else { throw NotAccepted() }
    #expect(rehearsal.extensions(of: id) == 1)
  }

  @Test func `if the dates do not show the outcome, the operator learns what to compare`() async throws {
    let rehearsal = try Rehearsal { $0.requestMemory = .nothing }
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    rehearsal.inject(Fault(.answerLost, endpoints: [.extendSubscriptionRenewalDate], count: 1))
    let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    _ = try await operation.run(plan, why: "w")
    let old = try #require(plan.present.expiresDate)
    try setEnd(of: id, old + .seconds(3 * 86_400), rehearsal)
    let again = try await operation.plan("\(id)", days: 7, reason: 1, identifier: plan.request.requestIdentifier)
    let answer = try await operation.run(again, why: "w")
    guard case .unclear = answer else { throw NotAccepted() }
    let sentence = answer.sentence(again)
    for words in [
      "millrace api statuses \(id)", RecordView.seconds(old), RecordView.seconds(old + .seconds(7 * 86_400)),
      "without --request-identifier",
    ] {
      #expect(sentence.contains(words), "\(sentence)")
    }
    #expect(rehearsal.extensionCalls == 1)
  }

  @Test(arguments: [true, false])
  func `a billing grace period is extended until the period ends`(isOver: Bool) async throws {
    let rehearsal = try Rehearsal()
    let id = try rehearsal.subscribe(1)[0]
    let operation = try operation(rehearsal)
    rehearsal.world.withState { $0.lapse(id, to: .billingGracePeriod) }
    try setEnd(of: id, rehearsal.now + .seconds(isOver ? -60 : 60), rehearsal)
    guard isOver else {
      let plan = try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
      guard case .applied = try await operation.run(plan, why: "w") else { throw NotAccepted() }
      return
    }
    let error = await #expect(throws: OperationError.self) {
      try await operation.plan("\(id)", days: 7, reason: 1, identifier: nil)
    }
    #expect(error?.description.contains("billing grace period") == true && rehearsal.extensionCalls == 0)
  }

  @Test func `without the audit trail nothing is sent`() async throws {
    let rehearsal = try Rehearsal(without: AuditRecord.topic)
    let id = try rehearsal.subscribe(1)[0]
    await #expect(throws: OperationError.self) {
      try await operation(rehearsal).plan("\(id)", days: 7, reason: 1, identifier: nil)
    }
    #expect(rehearsal.extensionCalls == 0)
  }
}
