import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Refunds

@Suite(.timeLimit(.minutes(15))) struct RefundsWorkerTests {
  /// Runs a worker on a stage, and removes the stage's files afterwards.
  private func play(
    credentials: Bool = true, _ body: @escaping @Sendable (RefundStage) async throws -> Void
  ) async throws {
    let stage = try RefundStage(hasCredentials: credentials)
    try await stage.running { try await body(stage) }
    #expect(stage.deadLetters().isEmpty)
    try EventSchemas.check(stage)
  }

  private func deliver(_ records: [ProducerRecord?], on stage: RefundStage) async throws {
    for record in records.compactMap(\.self) { try stage.log.append(record) }
    try await stage.settle()
  }

  @Test func `a full refund is published with product, quantity, reason and date`() async throws {
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

  @Test func `a transaction without its app and environment gets those of the notification`() async throws {
    try await play { stage in
      let id = try stage.buy()
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      let refund = stage.told()[0]
      try await deliver(
        [
          stage.v2(refund) { contents in
            for field in ["bundleId", "environment"] { contents.transaction?.json[field] = nil }
          }
        ], on: stage)
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["bundleId"] == "com.example.app" && row["environment"] == "Production")
      #expect(try stage.events().first?.data["bundleId"] == "com.example.app")
    }
  }

  @Test func `a prorated refund has its percentage, and the end of family sharing is not a refund`() async throws {
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

  @Test func `a reversal reinstates, and a declined request revokes nothing`() async throws {
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

  @Test func `a refund of an old transaction does not affect the current subscription`() async throws {
    try await play { stage in
      let first = try stage.buy(RefundStage.monthly)
      let renewal = stage.origin + .seconds(3_600)
      try stage.happens { state in _ = try state.renew(first, at: renewal) }
      try stage.happens { try $0.refund(first, at: renewal + .seconds(60)) }
      let record = try #require(stage.told().last)
      #expect(stage.world.withState { $0.subscriptions[first]?.givesService } == true)
      try await deliver([stage.v2(record)], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "entitlement.revoked" && event.transaction == "\(first)")
      // The event has only facts of the transaction. The schema allows no other member, and `play` validates the event.
      #expect(!event.data.members.contains { $0.key.lowercased().contains("status") })
      #expect(try Array(stage.table().keys) == ["\(first)"])
    }
  }

  @Test(arguments: [true, false])
  func `a refund in version 1 and version 2 is one refund, in either order`(isV1First: Bool) async throws {
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
      // If version 2 arrives first, no call is needed.
      #expect(stage.appStore.asked.count == (isV1First ? 2 : 0))
      #expect(try Set(stage.events().map { $0.data["source"] }) == [isV1First ? "transaction-info" : "notification"])
    }
  }

  @Test func `version 1 changes nothing without Apple's confirmation`() async throws {
    try await play { stage in
      let id = try stage.buy()
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      let hint = try stage.v1(stage.told()[0])
      try stage.happens { try $0.reverseRefund(id, at: stage.origin + .seconds(70)) }
      try stage.log.append(try #require(hint))
      try await stage.settleInputs()
      #expect(try stage.events().isEmpty && stage.table().isEmpty)
      #expect(!stage.appStore.asked.isEmpty)
      // It does not prevent what Apple signs from counting.
      try await deliver(stage.told().map { try stage.v2($0) }, on: stage)
      #expect(try stage.events().map(\.name) == ["entitlement.revoked", "entitlement.reinstated"])
    }
  }

  /// A version 1 refund, a minute after the beginning.
  private func hint(of id: Int64, on stage: RefundStage) throws -> ProducerRecord {
    let body = """
      {"notification_type":"REFUND","original_transaction_id":"\(id)","unified_receipt":{"latest_receipt_info":[
      {"transaction_id":"\(id)","original_transaction_id":"\(id)",
      "cancellation_date_ms":"\((stage.origin + .seconds(60)).millisecondsSince1970)"}]}}
      """
    return try stage.v1(body: Array(body.utf8))
  }

  @Test func `a refund that is not in Apple's answer yet is looked up again and then published`()
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

  @Test func `a transaction that Apple does not know yet is looked up again and then published`() async throws {
    try await play { stage in
      let id = try stage.buy()
      try stage.happens { try $0.refund(id, at: stage.origin + .seconds(60)) }
      let hint = try hint(of: id, on: stage)
      // Error 4040010: the answer is older than the notification.
      let behind = stage.world.withState { $0.transactions.removeValue(forKey: id) }
      try stage.log.append(hint)
      try await stage.settleInputs()
      #expect(try stage.events().isEmpty && !stage.appStore.asked.isEmpty)
      try stage.happens { $0.transactions[id] = behind }
      try await stage.settle()
      #expect(try stage.events().map(\.name) == ["entitlement.revoked"])
    }
  }

  @Test func `a transaction that Apple does not know after an hour is unconfirmed`() async throws {
    let stage = try RefundStage()
    let body = #"{"notification_type":"REFUND","original_transaction_id":"999"}"#
    try await stage.running(as: LateRefunds.self) {
      try await deliver([stage.v1(body: Array(body.utf8))], on: stage)
      let event = try #require(try stage.events().first)
      #expect(event.name == "refund.unconfirmed" && event.data["reason"] == "transaction-not-found")
      #expect(event.data["appleErrorCode"] == 4_040_010)
    }
  }

  @Test func `a refund that Apple does not report within an hour is unconfirmed, until a reapply`()
    async throws
  {
    let stage = try RefundStage()
    let id = try stage.buy()
    try await stage.running(as: LateRefunds.self) {
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
    #expect(try stage.events().map(\.name) == ["refund.unconfirmed", "entitlement.revoked"])
    #expect(try stage.table()["\(id)"]?["revoked"] == true)
    try EventSchemas.check(stage)
  }

  @Test func `after a version 2 reversal, the version 1 refund is ignored without a call`()
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

  @Test func `a cancellation because of an upgrade is not a refund`() async throws {
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
    (#"{"notification_type":"REVOKE","original_transaction_id":"nonsense"}"#, "apple-refused"),
  ])
  func `a version 1 body without a transaction is unconfirmed`(body: String, reason: String) async throws {
    try await play { stage in
      try await deliver([stage.v1(body: Array(body.utf8))], on: stage)
      #expect(try stage.events().map(\.name) == ["refund.unconfirmed"])
      #expect(try stage.events().first?.data["reason"] == .string(reason))
    }
  }

  @Test func `a version 1 body for another app's transaction changes no entitlement`() async throws {
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

  @Test func `replaying everything, plainly or reapplied, makes no call and publishes no event`() async throws {
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

  @Test func `a changed handler, reapplied, publishes only differences and makes no call again`()
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
    try await stage.running(as: OldRefunds.self) {
      try await deliver([stage.v1(told[1]), stage.v1(told[2])] + told.map { try stage.v2($0) }, on: stage)
    }
    let (before, calls) = (try stage.events(), stage.appStore.asked)
    #expect(before.count == 5 && !before.contains { "\($0.data)".contains("prorated") })
    try await stage.running {
      try stage.log.replay(to: stage.topics, reapply: true)
      try await stage.settle()
    }
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
    // The reversal is newer than the reapplied event.
    #expect(try stage.table()["\(ids[0])"]?["revoked"] == false)
  }

  @Test func `the state survives a restart of the worker`() async throws {
    let stage = try RefundStage()
    let id = try stage.buy()
    try stage.happens { state in
      try state.refund(id, at: stage.origin + .seconds(60))
      try state.reverseRefund(id, at: stage.origin + .seconds(70))
    }
    let told = try stage.told().map { try stage.v2($0) }
    try await stage.running { try await deliver([told[1]], on: stage) }
    // The refund arrives after its reversal, and the new worker has no memory of either.
    try await stage.running { try await deliver([told[0]], on: stage) }
    #expect(try stage.events().map(\.name) == ["entitlement.reinstated"])
    #expect(try stage.table()["\(id)"]?["revoked"] == false)
  }
}

/// An earlier version of the worker, which treats a prorated refund as a full one.
private struct OldRefunds: NotificationWorker {
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let outputTopics = RefundsWorker.outputTopics

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup) }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let outcome = try await worker.handle(notification, in: context)
    guard case .done(var results) = outcome.decision else { return outcome }
    for index in results.events.indices {
      results.events[index].data = Array(
        String(decoding: results.events[index].data, as: UTF8.self)
          .replacing(#""prorated""#, with: #""full""#).replacing("40000", with: "100000").utf8)
    }
    return .done(results)
  }
}

/// Validates every event and every row.
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
