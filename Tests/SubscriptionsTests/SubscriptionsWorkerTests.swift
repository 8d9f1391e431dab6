import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(15))) struct SubscriptionsWorkerTests {
  private static let day = Duration.seconds(86_400)

  /// Delivers everything that the App Store reported.
  private func deliverAll(_ stage: SubscriptionStage) async throws {
    try await stage.deliver(stage.notifications().map(\.record))
  }

  @Test func `a purchase is a row with product, end and price`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await deliverAll(stage)
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["status"] == "active" && row["productId"] == "app.basic" && row["autoRenews"] == true)
      let end = try stage.happens { state, _ in try #require(state.subscriptions[id]).expires }
      #expect(row["expiresDate"] == .string(end.rfc3339))
      #expect(row["entitledUntil"] == .string((end + .seconds(3_600)).rfc3339))
      #expect(row["price"] == 9_990 && row["bundleId"] == "com.example.app" && row["environment"] == "Production")
      #expect(try stage.events().map(\.name) == ["subscription.started"])
    }
  }

  @Test func `a refund of an earlier period leaves the subscription active`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await stage.advance(by: Self.day * 32)
      try stage.happens { state, now in try state.refund(id, at: now) }
      try await deliverAll(stage)
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["status"] == "active" && row["revocationDate"] == nil)
      #expect(try stage.events().map(\.name) == ["subscription.started", "subscription.renewed"])
    }
  }

  /// Plays two periods. Only the refund of the first is reported.
  private func refundOfEarlierPeriod(_ stage: SubscriptionStage) async throws -> (id: Int64, end: Timestamp) {
    let id = try stage.buy("app.basic")
    try await stage.advance(by: Self.day * 40)
    let sent = stage.nextSequence
    try stage.happens { state, now in try state.refund(id, at: now) }
    try await stage.deliver(stage.notifications(since: sent - 1).map(\.record))
    return (id, try stage.happens { state, _ in try #require(state.subscriptions[id]).expires })
  }

  @Test func `if the first notice is a refund of an earlier period, Apple is asked at once`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let (id, end) = try await refundOfEarlierPeriod(stage)
      let row = try #require(try stage.table()["\(id)"])
      #expect(stage.appStore.asked.count == 1)
      #expect(row["status"] == "active" && row["uncertain"] == nil && row["revocationDate"] == nil)
      #expect(row["expiresDate"] == .string(end.rfc3339))
      #expect(row["entitledUntil"] == .string((end + .seconds(3_600)).rfc3339))
    }
  }

  @Test func `without credentials the row says that the present period is unknown`() async throws {
    let stage = try SubscriptionStage(hasCredentials: false)
    try await stage.running { stage in
      let (id, end) = try await refundOfEarlierPeriod(stage)
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["status"] == "active" && row["uncertain"] == "period")
      #expect(row["entitledUntil"] == .string((end + .seconds(3_600)).rfc3339))
    }
  }

  @Test func `an end that no notification explained is asked for and corrected`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await deliverAll(stage)
      // The customer cancels and the subscription expires. None of it is reported.
      try stage.happens { state, now in try state.setRenewal(id, isOn: false, at: now) }
      try await stage.advance(by: Self.day * 31)
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      #expect(stage.appStore.asked.isEmpty)
      try await stage.advance(by: .seconds(3_600))
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["status"] == "expired" && row["entitledUntil"] == nil)
      #expect(row["cause"] == .object(try #require(cause(row))) && cause(row)?["kind"] == "answer")
      #expect(try stage.events().map(\.name) == ["subscription.started", "subscription.expired"])
      #expect(stage.appStore.asked.count == 1)
      try await stage.advance(by: Self.day * 90)
      #expect(stage.appStore.asked.count == 1)
    }
  }

  private func cause(_ row: JSONObject) -> JSONObject? {
    if case .object(let cause)? = row["cause"] { cause } else { nil }
  }

  @Test func `a lost renewal is corrected, and its successor is awaited`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await deliverAll(stage)
      for month in 1...3 {
        try await stage.advance(by: Self.day * 31)
        try await stage.advance(by: .seconds(3_600))
        #expect(stage.appStore.asked.count == month)
      }
      let end = try stage.happens { state, _ in try #require(state.subscriptions[id]).expires }
      #expect(try stage.table()["\(id)"]?["expiresDate"] == .string(end.rfc3339))
      #expect(
        try stage.events().map(\.name)
          == ["subscription.started"] + Array(repeating: "subscription.renewed", count: 3))
    }
  }

  @Test func `without credentials nobody is asked, and the state stays as it was reported`() async throws {
    let stage = try SubscriptionStage(hasCredentials: false)
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await deliverAll(stage)
      try await stage.advance(by: Self.day * 40)
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      #expect(stage.appStore.asked.isEmpty)
    }
  }

  @Test func `a version 1 notification changes nothing by itself, and leads to a question`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      let entry = try #require(stage.entries().first)
      let record = try #require(try stage.v1(entry))
      try await stage.deliver([record])
      let row = try #require(try stage.table()["\(id)"])
      #expect(row["status"] == "active" && cause(row)?["kind"] == "answer")
      #expect(stage.appStore.asked.count == 1)
      #expect(try stage.events().map(\.name) == ["subscription.started"])
    }
  }

  @Test func `a version 1 notification of a purchase that comes late is a start, and not a return`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      _ = try stage.buy("app.basic")
      let entry = try #require(stage.entries().first)
      let record = try #require(try stage.v1(entry))
      try await stage.advance(by: Self.day * 40)
      try await stage.deliver([record])
      #expect(try stage.events().map(\.name) == ["subscription.started"])
      // The notification of the renewal, which the answer had already.
      try await deliverAll(stage)
      #expect(try stage.events().map(\.name) == ["subscription.started"])
    }
  }

  /// The same JSON with every text of digits as a number.
  private static func numeric(_ json: JSON) -> JSON {
    switch json {
    case .string(let text): Int64(text).map { .integer($0) } ?? json
    case .array(let items): .array(items.map(numeric))
    case .object(let object): .object(JSONObject(object.members.map { .init(key: $0.key, value: numeric($0.value)) }))
    default: json
    }
  }

  @Test func `a version 1 notification with numbers instead of text leads to the same question`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      let entry = try #require(stage.entries().first)
      let body = try stage.happens { state, _ in try #require(state.bodiesV1(of: entry).first) }
      let json = Self.numeric(.object(try JSONObject(parsing: body)))
      let record = try stage.v1(body: json.serialized())
      #expect(record.key.map { String(decoding: $0, as: UTF8.self) } == "\(id)")
      try await stage.deliver([record])
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      #expect(stage.appStore.asked.count == 1)
    }
  }

  @Test func `a purchase that the customer keeps has a row, a consumable only events`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let (kept, used) = (try stage.buy("app.lifetime"), try stage.buy("app.coins"))
      try await stage.advance(by: .seconds(10))
      for id in [kept, used] { try stage.happens { state, now in try state.refund(id, at: now) } }
      try await stage.advance(by: .seconds(10))
      try stage.happens { state, now in try state.reverseRefund(kept, at: now) }
      // In the wrong order, each notice publishes its own change, and one that is out of date nothing.
      let records = try stage.notifications().map(\.record)
      try await stage.deliver(records.reversed())
      let table = try stage.table(SubscriptionsWorker.purchasesTopic)
      #expect(Array(table.keys) == ["\(kept)"] && table["\(kept)"]?["owned"] == true)
      let names = try stage.events().map { "\($0.name) \($0.data["productId"]?.text ?? "")" }
      #expect(
        names.sorted() == [
          "purchase.completed app.lifetime", "purchase.reinstated app.lifetime", "purchase.revoked app.coins",
        ])
    }
  }
}
