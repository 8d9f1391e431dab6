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
