import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite("The contents of the quarantine")
struct QuarantineInventoryTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func record(
    _ body: [UInt8], _ version: QuarantineRecord.Version = .v2, reason: Refusal.Reason? = .chain, at seconds: Int64
  ) -> ConsumerRecord {
    QuarantineRecord(
      value: body, version: version, reason: reason, receivedAt: Timestamp(millisecondsSince1970: seconds * 1000)
    ).producerRecord(topic: "millrace.quarantine").read()
  }

  @Test("the same body is one entry, however often Apple sent it")
  func grouped() throws {
    let sample = try fixture.sample(.refund)
    var inventory = QuarantineInventory()
    inventory.add(record(sample.jws, at: 7200))
    inventory.add(record(sample.jws, reason: .appNotConfigured, at: 3600))
    inventory.add(record(Array("x".utf8), reason: nil, at: 10_000))
    inventory.add(ProducerRecord(topic: "millrace.quarantine", value: nil).read())
    #expect(inventory.entries.count == 2)
    #expect(inventory.foreignCount == 1)
    let entry = try #require(inventory.entries.first)
    #expect(entry.count == 2)
    #expect(entry.firstSeen?.millisecondsSince1970 == 3_600_000 && entry.lastSeen?.millisecondsSince1970 == 7_200_000)
    #expect(entry.type == "REFUND" && entry.bundleId == fixture.app.bundleId && entry.environment == "Production")
    #expect(entry.size == sample.jws.count)
    #expect(entry.id.utf8.count == 64)
  }

  @Test("the ids that a body claims tell whose it is, unless they have another form")
  func claimed() throws {
    let sample = try fixture.sample(.refund)
    let genuine = RecordView(record(sample.jws, at: 1))
    var inventory = QuarantineInventory()
    inventory.add(record(sample.jws, at: 1))
    let entry = try #require(inventory.entries.first)
    let id = try #require(genuine.payload?.string("notificationUUID"))
    let key = try #require(genuine.originalTransactionId)
    #expect(entry.claims == .init(notificationID: id, originalTransactionID: key))
    let claims: JSONObject = ["notificationId": .string(id), "originalTransactionId": .string(key)]
    #expect(entry.json["claims"] == .object(claims))
    #expect([id, id.uppercased(), key, entry.id].allSatisfy(entry.names) && !entry.names("2000000000000000"))
    let wide = QuarantineTable.lines(inventory, lineWidth: 200, usesColor: false)
    #expect(wide.first?.hasSuffix("CLAIMS") == true && wide[1].hasSuffix(key), "\(wide)")
    let narrow = QuarantineTable.lines(inventory, lineWidth: wide[1].count - 1, usesColor: false)
    #expect(!narrow.joined().contains("CLAIMS") && narrow.count == wide.count, "\(narrow)")
    for claim in ["an e-mail address", String(repeating: "7", count: 40), ""] {
      let body = #"{"notification_type":"REFUND","original_transaction_id":"\#(claim)"}"#
      let entry = try #require(QuarantineEntry(record(Array(body.utf8), .v1, at: 1)))
      #expect(entry.claims == .init() && entry.json["claims"] == nil)
    }
  }

  @Test("ids can be shortened while they are unambiguous")
  func selected() throws {
    var inventory = QuarantineInventory()
    for index in 0..<20 { inventory.add(record(Array("\(index)".utf8), at: Int64(index))) }
    let id = try #require(inventory.entries.first?.id)
    #expect(try inventory.ids(matching: nil).count == 20)
    #expect(try inventory.ids(matching: [id]) == [id])
    #expect(try inventory.ids(matching: [String(id.prefix(8)).uppercased(), id]) == [id])
    for wrong in [String(id.prefix(7)), "ffffffffffffffffff", ""] {
      let error = try #require(throws: OperationError.self) { try inventory.ids(matching: [wrong]) }
      #expect(error.kind == .usage && error.place == "--id")
    }
  }

  @Test("a table shows what an operator needs to decide, JSON lines show everything")
  func shown() throws {
    var inventory = QuarantineInventory()
    let empty = QuarantineTable.lines(inventory, lineWidth: nil, usesColor: false)
    #expect(empty == ["The quarantine is empty."])
    let body = fixture.sampleV1(.cancel)
    inventory.add(record(body, .v1, reason: .appNotConfigured, at: 1_767_225_600))
    let lines = QuarantineTable.lines(inventory, lineWidth: nil, usesColor: false)
    #expect(lines.first?.hasPrefix("LAST SEEN") == true)
    #expect(lines[1].hasPrefix("2026-01-01T00:00:00Z      1  app-not-configured  CANCEL (V1)"), "\(lines[1])")
    #expect(lines.last == "1 body.")
    let json = try JSONObject(parsing: Array(try #require(QuarantineTable.jsonLines(inventory).first).utf8))
    #expect(json.string("id") == inventory.entries.first?.id)
    #expect(json.string("reason") == "app-not-configured" && json.string("version") == "v1")
  }
}
