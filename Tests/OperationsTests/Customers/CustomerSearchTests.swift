// Tests the search for a customer by every kind of id, on an in-memory log.

import AppStore
@testable import AppStoreServerAPI
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
    (String(repeating: "0a", count: 32), .digest), (String(repeating: "0a", count: 31) + "0g", nil),
    (String(repeating: "7", count: 32), nil),
  ])
  func `the form of an id decides where it is looked for`(id: String, form: CustomerSearch.Form?) {
    #expect(CustomerSearch.Form(id) == form)
  }

  @Test(arguments: [
    ("manrf8jgze", "MANRF8JGZE"), ("MK5tttvwjh", "MK5TTTVWJH"), ("MANRF8JGZE.", "MANRF8JGZE"),
    ("7e3fb20b4cdb47cc936d99d65f608138", "7e3fb20b-4cdb-47cc-936d-99d65f608138"),
    ("{7E3FB20B-4CDB-47CC-936D-99D65F608138}", "7E3FB20B-4CDB-47CC-936D-99D65F608138"),
    ("2000000123450000,", "2000000123450000"), ("\u{200B}2000000123450000\u{FEFF}", "2000000123450000"),
    (" 2000 0001\t2345\n", "200000012345"), ("#2000000123450000", "2000000123450000"),
    ("\u{201C}7e3fb20b-4cdb-47cc-936d-99d65f608138\u{201D};", "7e3fb20b-4cdb-47cc-936d-99d65f608138"),
  ])
  func `an id is read without what surrounds it, in Apple's spelling`(given: String, id: String) throws {
    #expect(try CustomerSearch.id(given) == id)
    #expect(try CustomerSearch.id(id) == id)
  }

  @Test(arguments: [
    "hello", "hellothere", "", " , ", "7e3fb20b", "7e3fb20b-4cdb-47cc-936d", "stra\u{DF}e123", "200000\u{661}123450000",
    "7e3fb20b4cdb47cc936d99d65f60813", "customer@example.com",
  ])
  func `another text is no id`(given: String) {
    let error = #expect(throws: OperationError.self) { try CustomerSearch.id(given) }
    #expect(error?.kind == .usage && error?.what == "not a transaction, order, token or notification id")
  }

  @Test func `an id that only the quarantine has is answered with the bodies that claim it`() async throws {
    let body = try fixture.sample(.refund).jws
    let quarantined = QuarantineRecord(value: body, version: .v2, reason: .chain, receivedAt: Fixture.signedDate)
    for _ in 0..<2 { try log.append(quarantined.producerRecord(topic: QuarantineRecord.topic)) }
    let entry = try #require(QuarantineEntry(quarantined.producerRecord(topic: QuarantineRecord.topic).read()))
    let (id, own) = (
      try #require(entry.claims.notificationID), try #require(entry.claims.originalTransactionID)
    )
    let search = search()
    #expect(try await search.find(id) == nil)
    for id in [id, own, entry.id] {
      let found = try await search.quarantined(claiming: ["1999", id])
      #expect(found.map(\.id) == [entry.id] && found.first?.count == 2)
      let state = CustomerState(key: id, row: nil, erasedAt: nil, quarantined: found)
      #expect(
        state.entitlement(at: Fixture.signedDate)
          == "not known: only the quarantine names \(id), and nothing there is verified")
      #expect(state.explanation.contains("1 body of the quarantine claims it, unverified: \(entry.shownID)"))
      #expect(state.explanation.contains(" of \(own)") == (id != own) && !state.explanation.contains("import"))
      #expect(state.facts(at: Fixture.signedDate).contains { $0.name == "quarantined" })
      #expect(state.json(at: Fixture.signedDate)["quarantined"] == .array([.string(entry.id)]))
    }
    #expect(try await search.quarantined(claiming: ["1999"]) == [])
    let bare = CustomerSearch(in: InMemoryLog(clock: .system), prefix: "", apple: nil)
    #expect(try await bare.quarantined(claiming: [id]) == [])
  }

  @Test func `a purchase without a row and an unknown one differ, and no answer from Apple is neither`() async throws {
    let record = try await fixture.record(v2: fixture.sample(.refund)).producerRecord
    try log.append(record)
    let view = RecordView(record.read())
    let own = try #require(view.originalTransactionId)
    let call = APICall(endpoint: .getTransactionInfo, environment: .production, path: [])
    let search = search { _, _ in throw APIError(call, .transport(TransportFailure("reset", .unclear)), .retryNow) }
    func explanation(_ id: String) async throws -> String {
      let customer = try await search.find(id) ?? .init(keys: [id], finding: .absent)
      return CustomerState(key: customer.keys[0], row: nil, erasedAt: nil, finding: customer.finding).explanation
    }
    // Apple's answer is not needed if a notification names the purchase.
    for id in [own, try #require(view.id)] {
      let text = try await explanation(id)
      #expect(
        text.hasPrefix("\(own) has no row: no worker has written it yet, or it is a consumable without a refund."),
        "\(text)")
      #expect(text.contains("millrace timeline \(own)"))
    }
    let text = try await explanation("1999")
    #expect(text.hasPrefix("No row or notification names 1999, and Apple gave no answer: "), "\(text)")
    #expect(!text.contains("no subscription") && !text.contains("import"))
    let unknown = CustomerState(key: "1999", row: nil, erasedAt: nil).explanation
    #expect(unknown.hasPrefix("There is no subscription or purchase 1999. If it is from before Millrace, import it"))
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
