import AppStore
import Clocks
import Kafka
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Millrace
@testable import Refunds

@Suite(.timeLimit(.minutes(15))) struct RefundsWorkerTests {
  /// Runs a worker on a stage and takes the stage down.
  private func play(
    credentials: Bool = true, _ body: @escaping @Sendable (RefundStage) async throws -> Void
  ) async throws {
    let stage = try RefundStage(hasCredentials: credentials)
    try await stage.running { try await body(stage) }
    try stage.tearDown()
    #expect(stage.deadLetters().isEmpty)
    try EventSchemas.check(stage)
  }

  private func deliver(_ records: [ProducerRecord?], on stage: RefundStage) async throws {
    for record in records.compactMap(\.self) { try stage.log.append(record) }
    try await stage.settle()
  }

  @Test func `a refund in full is told with product, quantity, reason and date`() async throws {
    try await play { stage in
      let id = try stage.buy(quantity: 3)
      let date = stage.origin + .seconds(60)
      try stage.happens { try $0.refund(id, reason: .refundedDueToIssue, at: date) }
      try await deliver([stage.v2(stage.told()[0])], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "entitlement.revoked" && event.transaction == "\(id)")
      #expect(event.data["productId"] == .string(RefundStage.coins) && event.data["quantity"] == 3)
      #expect(
        event.data["revocation"]
          == ["type": "full", "date": .string(date.rfc3339), "percentage": 100_000, "reason": 1])
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["revoked"] == true && row["revocation"] == event.data["revocation"])
    }
  }

  @Test func `a prorated refund names its percentage, a family's end is no refund`() async throws {
    try await play { stage in
      let (bought, shared) = (try stage.buy(RefundStage.monthly), try stage.buy(ownership: .familyShared))
      try stage.happens { state in
        try state.refund(bought, percentage: 67_932, at: stage.origin + .seconds(60))
        try state.revoke(shared, at: stage.origin + .seconds(61))
      }
      try await deliver(stage.told().map { try stage.v2($0) }, on: stage)
      let revocations = try stage.table().compactMapValues { row -> JSONObject? in
        if case .object(let revocation)? = row["revocation"] { revocation } else { nil }
      }
      #expect(revocations["\(bought)"]?["type"] == "prorated")
      #expect(revocations["\(bought)"]?["percentage"] == 67_932)
      #expect(revocations["\(shared)"]?["type"] == "family" && revocations["\(shared)"]?["percentage"] == nil)
      #expect(try stage.events().map(\.name) == ["entitlement.revoked", "entitlement.revoked"])
    }
  }

  @Test func `a reversal gives back, a declined request takes nothing`() async throws {
    try await play { stage in
      let (reversed, declined) = (try stage.buy(), try stage.buy())
      try stage.happens { state in
        try state.refund(reversed, at: stage.origin + .seconds(60))
        try state.reverseRefund(reversed, at: stage.origin + .seconds(70))
        try state.declineRefund(declined, at: stage.origin + .seconds(80))
      }
      try await deliver(stage.told().map { try stage.v2($0) }, on: stage)
      #expect(
        Set(try stage.events().map { "\($0.name) \($0.transaction)" }) == [
          "entitlement.revoked \(reversed)", "entitlement.reinstated \(reversed)", "refund.declined \(declined)",
        ])
      #expect(try stage.table().mapValues { $0["revoked"] } == ["\(reversed)": false, "\(declined)": false])
    }
  }

  @Test func `a refund of an old transaction says nothing about the subscription, which goes on`() async throws {
    try await play { stage in
      let first = try stage.buy(RefundStage.monthly)
      let renewal = stage.origin + .seconds(3_600)
      try stage.happens { state in _ = try state.renew(first, at: renewal) }
      try stage.happens { try $0.refund(first, at: renewal + .seconds(60)) }
      let record = try #require(stage.told().last)
      #expect(stage.simulator.world.withState { $0.subscriptions[first]?.givesService } == true)
      try await deliver([stage.v2(record)], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "entitlement.revoked" && event.transaction == "\(first)")
      // Nothing but the transaction's own facts: the schema admits no other member, and `play` holds the event against it.
      #expect(!event.data.members.contains { $0.key.lowercased().contains("status") })
      #expect(try Array(stage.table().keys) == ["\(first)"])
    }
  }

  @Test(arguments: [true, false])
  func `a refund told by version 1 and version 2 is one refund, whichever comes first`(isV1First: Bool) async throws {
    try await play { stage in
      let (coins, month) = (try stage.buy(), try stage.buy(RefundStage.monthly))
      try stage.happens { state in
        try state.refund(coins, at: stage.origin + .seconds(60))
        try state.refund(month, at: stage.origin + .seconds(61))
      }
      let (v2, v1) = (try stage.told().map { try stage.v2($0) }, try stage.told().map { try stage.v1($0) })
      for step in isV1First ? [v1, v2] : [v2, v1] { try await deliver(step, on: stage) }
      #expect(try stage.events().map(\.name) == ["entitlement.revoked", "entitlement.revoked"])
      #expect(Set(try stage.events().map(\.transaction)) == ["\(coins)", "\(month)"])
      // Where version 2 has told it nobody needs to be asked.
      #expect(stage.appStore.asked.count == (isV1First ? 2 : 0))
      #expect(try Set(stage.events().map { $0.data["source"] }) == [isV1First ? "transaction-info" : "notification"])
    }
  }

  @Test func `version 1 changes nothing that Apple does not confirm`() async throws {
    try await play { stage in
      let id = try stage.buy()
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      let hint = try stage.v1(stage.told()[0])
      try stage.happens { try $0.reverseRefund(id, at: stage.origin + .seconds(70)) }
      try stage.log.append(try #require(hint))
      try await stage.settleInputs()
      #expect(try stage.events().isEmpty && stage.table().isEmpty)
      #expect(!stage.appStore.asked.isEmpty)
      // Nor does it keep what Apple signs from counting.
      try await deliver(stage.told().map { try stage.v2($0) }, on: stage)
      #expect(try stage.events().map(\.name) == ["entitlement.revoked", "entitlement.reinstated"])
    }
  }

  /// What version 1 tells of a refund a minute after the beginning.
  private func hint(of id: Int64, on stage: RefundStage) throws -> ProducerRecord {
    let body = """
      {"notification_type":"REFUND","original_transaction_id":"\(id)","unified_receipt":{"latest_receipt_info":[
      {"transaction_id":"\(id)","original_transaction_id":"\(id)",
      "cancellation_date_ms":"\((stage.origin + .seconds(60)).millisecondsSince1970)"}]}}
      """
    return try stage.v1(body: Array(body.utf8))
  }

  @Test func `a refund that Apple's answer does not know of yet is asked for again, and told when it does`()
    async throws
  {
    try await play { stage in
      let id = try stage.buy()
      try stage.log.append(try hint(of: id, on: stage))
      try await stage.settleInputs()
      #expect(try stage.events().isEmpty && !stage.appStore.asked.isEmpty)
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      try await stage.settle()
      let event = try #require(try stage.events().first)
      #expect(event.name == "entitlement.revoked" && event.data["source"] == "transaction-info")
      #expect(try stage.events().count == 1 && stage.table()["\(id)"]?["revoked"] == true)
    }
  }

  @Test func `a refund that Apple does not know of after an hour is unconfirmed; asked for again, it may be told`()
    async throws
  {
    let stage = try RefundStage()
    let id = try stage.buy()
    try await stage.running(LateRefunds.self) {
      try await deliver([hint(of: id, on: stage)], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "refund.unconfirmed" && event.data["reason"] == "not-revoked")
      #expect(stage.appStore.asked.count == 1)
      #expect(try stage.table().isEmpty)
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      try stage.log.replay(to: stage.topics, reapply: true)
      try await stage.settle()
      #expect(stage.appStore.asked.count == 2)
    }
    try stage.tearDown()
    #expect(try stage.events().map(\.name) == ["refund.unconfirmed", "entitlement.revoked"])
    #expect(try stage.table()["\(id)"]?["revoked"] == true)
    try EventSchemas.check(stage)
  }

  @Test func `a reversal that version 2 told ends what version 1 tells of its refund, and nobody is asked`()
    async throws
  {
    try await play { stage in
      let id = try stage.buy()
      try stage.happens { state in
        try state.refund(id, at: stage.origin + .seconds(60))
        try state.reverseRefund(id, at: stage.origin + .seconds(70))
      }
      let told = stage.told()
      try await deliver([stage.v2(told[1])], on: stage)
      try await deliver([stage.v1(told[0])], on: stage)
      #expect(try stage.events().map(\.name) == ["entitlement.reinstated"])
      #expect(stage.appStore.asked.isEmpty)
    }
  }

  @Test func `a cancellation that was an upgrade is no refund`() async throws {
    try await play { stage in
      let id = try stage.buy(RefundStage.monthly)
      try stage.happens { $0.transactions[id]?.upgraded = stage.origin + .seconds(60) }
      try await deliver([hint(of: id, on: stage)], on: stage)
      #expect(try stage.events().isEmpty && stage.table().isEmpty)
      #expect(stage.appStore.asked.count == 1)
    }
  }

  @Test func `without credentials version 1 ends as unconfirmed`() async throws {
    try await play(credentials: false) { stage in
      let id = try stage.buy()
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      try await deliver([stage.v1(stage.told()[0])], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "refund.unconfirmed" && event.data["reason"] == "api-not-configured")
      #expect(event.data["notificationType"] == "REFUND" && event.transaction == "\(id)")
      #expect(try stage.table().isEmpty)
      #expect(stage.appStore.asked.isEmpty)
    }
  }

  @Test(arguments: [
    (#"{"notification_type":"REFUND"}"#, "no-transaction"),
    (#"{"notification_type":"CANCEL","original_transaction_id":"999"}"#, "transaction-not-found"),
    (#"{"notification_type":"REVOKE","original_transaction_id":"nonsense"}"#, "apple-refused"),
  ])
  func `a hint that leads nowhere is told as such`(body: String, reason: String) async throws {
    try await play { stage in
      try await deliver([stage.v1(body: Array(body.utf8))], on: stage)
      #expect(try stage.events().map(\.name) == ["refund.unconfirmed"])
      #expect(try stage.events().first?.data["reason"] == .string(reason))
    }
  }

  @Test func `a hint about somebody else's transaction moves nobody's entitlement`() async throws {
    try await play { stage in
      let (mine, other) = (try stage.buy(), try stage.buy())
      try stage.happens { try $0.refund(other, at: stage.origin + .seconds(60)) }
      let body = """
        {"notification_type":"REFUND","original_transaction_id":"\(mine)","unified_receipt":{"latest_receipt_info":[
        {"transaction_id":"\(other)","original_transaction_id":"\(mine)","cancellation_date_ms":"1"}]}}
        """
      try await deliver([stage.v1(body: Array(body.utf8))], on: stage)
      #expect(try stage.events().map { $0.data["reason"] } == ["another-purchase"])
      #expect(try stage.table().isEmpty)
    }
  }

  @Test func `everything again, plainly or reapplied, is no call and no event more`() async throws {
    try await play { stage in
      let ids = try (0..<3).map { _ in try stage.buy() }
      try stage.happens { state in
        for id in ids { try state.refund(id, at: stage.origin + .seconds(60)) }
        try state.reverseRefund(ids[1], at: stage.origin + .seconds(70))
        try state.refund(ids[1], at: stage.origin + .seconds(80))
      }
      let told = stage.told()
      try await deliver([stage.v1(told[0])] + told.map { try stage.v2($0) } + told.map { try stage.v1($0) }, on: stage)
      let (events, calls, table) = (try stage.events(), stage.appStore.asked, try stage.table())
      for reapply in [false, true] {
        let count = stage.log.records(in: NotificationFamily.refunds.topic).count
        #expect(try stage.log.replay(to: stage.topics, reapply: reapply) == count && count > told.count)
        try await stage.settle()
        #expect(try stage.events().map(\.id) == events.map(\.id), "reapply: \(reapply)")
        #expect(stage.appStore.asked == calls, "reapply: \(reapply)")
        #expect(try stage.table() == table, "reapply: \(reapply)")
      }
    }
  }

  @Test func `a changed handler, reapplied, tells only what it tells otherwise, and asks Apple nothing twice`()
    async throws
  {
    let stage = try RefundStage()
    let ids = try (0..<4).map { _ in try stage.buy() }
    try stage.happens { state in
      for (number, id) in ids.enumerated() {
        try state.refund(id, percentage: number < 2 ? 40_000 : 100_000, at: stage.origin + .seconds(60))
      }
      try state.reverseRefund(ids[0], at: stage.origin + .seconds(70))
    }
    let told = stage.told()
    try await stage.running(OldRefunds.self) {
      try await deliver([stage.v1(told[1]), stage.v1(told[2])] + told.map { try stage.v2($0) }, on: stage)
    }
    let (before, calls) = (try stage.events(), stage.appStore.asked)
    #expect(before.count == 5 && !before.contains { "\($0.data)".contains("prorated") })
    try await stage.running {
      try stage.log.replay(to: stage.topics, reapply: true)
      try await stage.settle()
    }
    try stage.tearDown()
    let after = try stage.events().dropFirst(before.count)
    #expect(Set(after.map(\.transaction)) == ["\(ids[0])", "\(ids[1])"])
    for event in after {
      let old = before.first { $0.id == event.supersedes }
      #expect(old?.transaction == event.transaction && old?.name == "entitlement.revoked" && old?.id != event.id)
      guard case .object(let revocation)? = event.data["revocation"] else {
        Issue.record("\(event)")
        continue
      }
      #expect(revocation["type"] == "prorated" && revocation["percentage"] == 40_000)
    }
    #expect(stage.appStore.asked == calls)
    // The reversal is newer than what was told again.
    #expect(try stage.table()["\(ids[0])"]?["revoked"] == false)
  }

  @Test func `the state outlives the worker`() async throws {
    let stage = try RefundStage()
    let id = try stage.buy()
    try stage.happens { state in
      try state.refund(id, at: stage.origin + .seconds(60))
      try state.reverseRefund(id, at: stage.origin + .seconds(70))
    }
    let told = try stage.told().map { try stage.v2($0) }
    try await stage.running { try await deliver([told[1]], on: stage) }
    // The refund comes after its reversal, to a worker that has never heard of either.
    try await stage.running { try await deliver([told[0]], on: stage) }
    try stage.tearDown()
    #expect(try stage.events().map(\.name) == ["entitlement.reinstated"])
    #expect(try stage.table()["\(id)"]?["revoked"] == false)
  }
}

/// The worker as it was before somebody noticed that a part of a price is not all of it.
private struct OldRefunds: NotificationWorker {
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let tables = RefundsWorker.tables

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup) }

  func handle(_ notification: Millrace.Notification, in context: HandlerContext) async throws -> Outcome {
    var outcome = try await worker.handle(notification, in: context)
    for index in outcome.events.indices {
      outcome.events[index].data = Array(
        String(decoding: outcome.events[index].data, as: UTF8.self)
          .replacing(#""prorated""#, with: #""full""#).replacing("40000", with: "100000").utf8)
    }
    return outcome
  }
}

/// Every event and every row against its schema.
enum EventSchemas {
  static func check(_ stage: RefundStage, sourceLocation: SourceLocation = #_sourceLocation) throws {
    for event in try stage.events() {
      #expect(
        try SchemaCheck("refunds.\(event.name)").problems(.object(event.data)).isEmpty,
        "\(event.name) \(event.data)", sourceLocation: sourceLocation)
    }
    let row = try SchemaCheck("appstore.entitlements")
    for (id, value) in try stage.table() {
      #expect(row.problems(.object(value)).isEmpty, "\(id)", sourceLocation: sourceLocation)
      #expect(value["transactionId"] == .string(id), sourceLocation: sourceLocation)
    }
  }
}
