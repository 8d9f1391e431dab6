// Tests the search for a customer by every kind of id, on an in-memory log.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import TestEnvironment
import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(15))) struct CustomerSearchTests {
  private let fixture: Fixture
  private let log = InMemoryLog(clock: .system)
  private let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
  private let key = "2000000123450000"

  init() throws {
    fixture = try Fixture()
    for topic in fixture.catalog.topics { try log.createTopic(topic.topic, partitions: topic.lanes) }
    for number in 0..<40 { try write("appstore.subscriptions", key: "\(number)", row: ["status": "active"]) }
  }

  private func write(_ topic: String, key: String, row: JSONObject) throws {
    var object = row
    if row["originalTransactionId"] == nil { object["originalTransactionId"] = .string(key) }
    try log.append(ProducerRecord(topic: topic, key: Array(key.utf8), value: object.serialized()))
  }

  private func search(_ apple: CustomerSearch.Question? = nil) -> CustomerSearch {
    CustomerSearch(in: log, prefix: "", apple: apple)
  }

  @Test(arguments: [
    ("2000000123450000", CustomerSearch.Form.transaction), ("7", .transaction),
    ("7e3fb20b-4cdb-47cc-936d-99d65f608138", .uuid), ("7E3FB20B-4CDB-47CC-936D-99D65F608138", .uuid),
    ("MK5TTTVWJH", .order), ("MVX12345", .order), ("", nil), ("7e3fb20b", nil), ("mk5tttvwjh", nil),
    ("7e3fb20b-4cdb-47cc-936d-99d65f60813x", nil), ("a key", nil), ("MK5TTTVWJHMK5TTTV", nil),
  ])
  func `the form of an id decides where it is looked for`(id: String, form: CustomerSearch.Form?) {
    #expect(CustomerSearch.Form(id) == form)
  }

  @Test func `a row is found by its key, its current transaction and its token`() async throws {
    try write(
      "appstore.subscriptions", key: key,
      row: ["status": "active", "transactionId": "2000000123456789", "appAccountToken": .string(token)])
    try write(
      "appstore.purchases", key: "2000000123470001",
      row: ["owned": true, "originalTransactionId": "2000000123470000", "appAccountToken": .string(token)])
    let search = search()
    #expect(try await search.find(key) == .init(keys: [key]))
    #expect(try await search.find("2000000123456789") == .init(keys: [key], relation: "transaction"))
    #expect(try await search.find("2000000123470001") == .init(keys: ["2000000123470000"], relation: "transaction"))
    for token in [token, token.uppercased()] {
      #expect(
        try await search.find(token) == .init(keys: [key, "2000000123470000"].sorted(), relation: "appAccountToken"))
    }
    #expect(try await search.row(of: key)?["status"] == "active")
    #expect(try await search.row(of: "1999") == nil)
    #expect(try await search.find("1999") == nil)
    #expect(try await search.find("a key") == nil)
  }

  @Test func `a refund is the row of what no other table has`() async throws {
    try write("appstore.entitlements", key: key, row: ["revoked": true, "appAccountToken": .string(token)])
    try write("appstore.subscriptions", key: "8", row: ["status": "active"])
    try write("appstore.entitlements", key: "8", row: ["revoked": true])
    let search = search()
    #expect(try await search.find(token) == .init(keys: [key], relation: "appAccountToken"))
    #expect(try await search.row(of: key)?["revoked"] == true)
    #expect(try await search.row(of: "8")?["status"] == "active")
  }

  @Test func `a notification leads to its customer by its id, its transactions and its token`() async throws {
    let sample = try fixture.sample(.didRenew)
    let record = try await fixture.record(v2: sample).producerRecord
    try log.append(record)
    let view = RecordView(record.read())
    let transaction = try #require(view.transactionId)
    let own = try #require(view.originalTransactionId)
    let search = search()
    #expect(try await search.find(own) == .init(keys: [own]))
    #expect(try await search.find(transaction)?.keys == [own])
    let id = try #require(view.id)
    for id in [id, id.uppercased()] {
      #expect(try await search.find(id) == .init(keys: [own], relation: "notification"))
    }
    let token = try #require(view.json.object("transaction")?.string("appAccountToken"))
    #expect(try await search.find(token) == .init(keys: [own], relation: "appAccountToken"))
    #expect(try await search.find("00000000-0000-0000-0000-000000000000") == nil)
  }

  @Test func `Apple is asked about orders, and about transactions that no table has`() async throws {
    try write("appstore.subscriptions", key: key, row: ["status": "active", "transactionId": "2000000000000011"])
    let asked = Mutex<[String]>([])
    let search = search { id, _ in
      asked.withLock { $0.append(id) }
      return ["MK5TTTVWJH": ["8", "9"], "2000000000000012": [key]][id] ?? []
    }
    #expect(try await search.find(key)?.keys == [key])
    #expect(try await search.find("2000000000000011")?.keys == [key])
    #expect(asked.withLock { $0 } == [])
    #expect(try await search.find("2000000000000012") == .init(keys: [key], relation: "transaction"))
    #expect(try await search.find("MK5TTTVWJH") == .init(keys: ["8", "9"], relation: "order"))
    #expect(try await search.find("MK5TTTVWJX") == nil)
    #expect(asked.withLock { $0 } == ["2000000000000012", "MK5TTTVWJH", "MK5TTTVWJX"])
    let error = await #expect(throws: OperationError.self) { try await self.search().find("MK5TTTVWJH") }
    #expect(error?.remedy.contains("apps[].api") == true)
  }

  @Test func `without the tables the search goes on`() async throws {
    let bare = InMemoryLog(clock: .system)
    let topic = "appstore.notifications.subscriptions"
    try bare.createTopic(topic, partitions: 3)
    let record = try await fixture.record(v2: fixture.sample(.didRenew)).producerRecord
    try bare.append(record)
    let notes = Mutex<[String]>([])
    let search = CustomerSearch(in: bare, prefix: "", apple: nil) { note in notes.withLock { $0.append(note) } }
    let key = try #require(RecordView(record.read()).originalTransactionId)
    #expect(try await search.find(key) == .init(keys: [key]))
    #expect(notes.withLock { $0 }.contains { $0.contains("appstore.subscriptions") })
  }
}

@Suite struct CustomerStateTests {
  /// 2026-01-01T00:00:00Z
  private let now = Fixture.signedDate

  private func state(_ row: JSONObject?, erasedAt: Timestamp? = nil) -> CustomerState {
    CustomerState(key: "7", row: row, erasedAt: erasedAt)
  }

  @Test func `the entitlement is one sentence, with its end or its reason`() {
    let later = (now + .seconds(60)).rfc3339
    let earlier = (now - .seconds(60)).rfc3339
    let table: [(row: JSONObject?, Bool?, String)] = [
      (["status": "active", "entitledUntil": .string(later)], true, "yes, until \(later)"),
      (
        ["status": "active", "entitledUntil": .string(earlier)], false,
        "no, since \(earlier), although the status is active"
      ),
      (
        ["status": "active", "entitledUntil": .string(now.rfc3339)], false,
        "no, since \(now.rfc3339), although the status is active"
      ),
      (["status": "revoked"], false, "no, the status is revoked"),
      (["owned": true], true, "yes, the product is owned"), (["owned": false], false, "no, the purchase was revoked"),
      (["revoked": true], false, "no, the transaction was revoked"),
      (
        ["revoked": true, "productType": "Auto-Renewable Subscription"], nil,
        "not known: one transaction was revoked, and no row has the subscription"
      ),
      (["revoked": false], nil, "not known: the refund of the transaction was reversed"),
      (nil, nil, "not known: there is no subscription or purchase 7"),
    ]
    for (row, isEntitled, text) in table {
      #expect(state(row).isEntitled(at: now) == isEntitled && state(row).entitlement(at: now) == text)
      #expect(state(row).json(at: now)["entitled"] == isEntitled.map { .bool($0) })
    }
  }

  @Test func `an erased customer is called erased, also if a later notification brought the row back`() {
    #expect(state(nil, erasedAt: now).entitlement(at: now) == "not known: the customer was erased at \(now.rfc3339)")
    let back = state(["status": "expired"], erasedAt: now)
    #expect(back.facts(at: now).contains { $0.name == "erased" } && back.entitlement(at: now).hasPrefix("no"))
    #expect(back.json(at: now).string("erasedAt") == now.rfc3339)
  }
}
