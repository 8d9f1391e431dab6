import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite("Records as text")
struct RecordViewTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test("every type and subtype shows its name, its key and its position")
  func everyKind() async throws {
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 3)
    for sample in try samples.everyKind(from: Fixture.signedDate) {
      let record = try await fixture.record(v2: sample)
      let view = RecordView(record.producerRecord.read(partition: 2, offset: 41))
      let comment = Comment(rawValue: sample.kind.description)
      #expect(view.content == .v2, comment)
      #expect(view.type == sample.kind.type.rawValue, comment)
      #expect(view.subtype == sample.kind.subtype?.rawValue, comment)
      #expect(view.id == sample.notificationUUID, comment)
      #expect(view.subject == sample.orderingKey, comment)
      #expect(view.environment == "Production" && view.bundleId == fixture.app.bundleId, comment)
      #expect(view.signedDate == sample.signedDate, comment)
      #expect(view.origin == "post", comment)
      #expect(view.topic == record.topic && view.partition == 2 && view.offset == 41, comment)
      #expect(view.problems.isEmpty && view.notes.isEmpty, comment)
      #expect(view.row.count == RecordView.columns.count, comment)
      #expect(view.jsonLine.utf8.count < 8_000, "the inner tokens of \(sample.kind) are omitted")
    }
  }

  @Test("a renewal shows product and price")
  func renewal() async throws {
    let view = RecordView(try await fixture.record(v2: fixture.sample(.didRenew)).producerRecord.read())
    #expect(view.productId?.hasPrefix(fixture.app.bundleId) == true)
    #expect(view.price != nil && view.currency != nil)
    let json = view.json
    #expect(json.object("transaction")?.string("productId") == view.productId)
    #expect(json.object("payload")?.object("data")?["signedTransactionInfo"] == nil)
    #expect(json.object("payload")?.object("data")?.string("bundleId") == fixture.app.bundleId)
    #expect(json.string("signedDate") == Fixture.signedDate.rfc3339)
    #expect(try JSONObject(parsing: Array(view.jsonLine.utf8)) == json)
  }

  @Test("a version 1 notification shows its newest transaction, without the receipt")
  func version1() throws {
    let record = try fixture.record(v1: fixture.sampleV1(.didRecover))
    let view = RecordView(record.producerRecord.read())
    #expect(view.content == .v1)
    #expect(view.type == "DID_RECOVER")
    #expect(view.subject == record.key && view.originalTransactionId == record.key)
    #expect(view.productId != nil && view.transactionId != nil)
    #expect(view.problems.isEmpty)
    #expect(view.row[0].text == "DID_RECOVER (V1)")
    #expect(view.json.object("payload")?.object("unified_receipt")?["latest_receipt"] == nil)
  }

  @Test("a password in a record is not shown")
  func password() {
    let body = #"{"notification_type":"CANCEL","password":"secret-secret"}"#
    let view = RecordView(ProducerRecord(topic: "t", value: Array(body.utf8)).read())
    #expect(view.type == "CANCEL")
    #expect(!view.jsonLine.contains("secret-secret"))
  }

  @Test("a refused body shows the reason and its notification")
  func quarantined() throws {
    let sample = try fixture.sample(.refund)
    let record = QuarantineRecord(
      value: sample.jws, version: .v2, reason: .appNotConfigured, receivedAt: Fixture.signedDate)
    let view = RecordView(record.producerRecord(topic: "millrace.quarantine").read())
    #expect(view.refusal == "app-not-configured")
    #expect(view.type == "REFUND" && view.bundleId == fixture.app.bundleId)
    #expect(view.id == record.id)
    #expect(view.notes.first?.text.contains("app-not-configured") == true)
  }

  @Test("malformed records are shown as far as possible")
  func odd() {
    let table: [(ProducerRecord, RecordView.Content, String)] = [
      (ProducerRecord(topic: "t", key: Array("k".utf8), value: nil), .tombstone, "(tombstone)"),
      (ProducerRecord(topic: "t", value: []), .foreign, "(0 B, not a notification)"),
      (ProducerRecord(topic: "t", value: Array("hello".utf8)), .foreign, "(5 B, not a notification)"),
      (ProducerRecord(topic: "t", value: [0xFF, 0x00, 0x1B]), .foreign, "(3 B, not a notification)"),
      (ProducerRecord(topic: "t", value: Array("[]".utf8)), .foreign, "(2 B, not a notification)"),
      (
        ProducerRecord(
          topic: "t", value: Array("x".utf8),
          headers: [RecordHeader(name: "ce_type", value: [0xFF]), RecordHeader(name: "ce_id", value: nil)]),
        .foreign, "(1 B, not a notification)"
      ),
    ]
    for (record, content, event) in table {
      let view = RecordView(record.read())
      #expect(view.content == content)
      #expect(view.row[0].text == event)
      #expect(view.problems.isEmpty == (content == .tombstone), "\(view.problems)")
    }
    let view = RecordView(ProducerRecord(topic: "t", key: [0xC3], value: [0xFF, 0x00, 0x1B]).read())
    #expect(view.text == "ff 00 1b")
    #expect(view.problems.contains("the key is not UTF-8"))
  }

  @Test("every topic of Millrace shows its type first: events, rows, decoded records, delays, dead letters and audit")
  func everyTopic() throws {
    let row =
      #"{"originalTransactionId":"7","bundleId":"com.example.app","status":"active","price":990,"currency":"EUR"}"#
    func event(_ type: String, _ source: String, _ headers: [RecordHeader] = []) -> [RecordHeader] {
      CloudEvent(id: "e1", source: source, type: type, subject: "7", time: Fixture.signedDate).headers + headers
    }
    let history = [
      RecordHeader("millrace-attempt", "3"), RecordHeader("millrace-due", "1767225600000"),
      RecordHeader("millrace-cause", "2026-01-01T00:00:00Z timeout: the database did not answer"),
    ]
    let died = [
      RecordHeader("millrace-reason", "attempts-exhausted"), RecordHeader("millrace-detail", "gave up"),
      RecordHeader("millrace-remedy", "look"), RecordHeader("millrace-dead-at", "1767225600000"),
    ]
    let type = "dev.millrace.refunds.entitlement.revoked"
    let audit = AuditRecord(
      run: "1f0c", .replay, .ended(part: "0", result: .done, counts: []), by: "ann", source: "millrace",
      at: Fixture.signedDate
    ).producerRecord(prefix: "t-")
    let decoded = #"{"notificationType":"REFUND","bundleId":"com.example.app","originalTransactionId":"7"}"#
    let table: [(topic: String, value: String, headers: [RecordHeader], first: String)] = [
      ("t-appstore.events.refunds", row, event(type, "millrace/refunds"), "entitlement.revoked"),
      ("t-appstore.subscriptions", row, [], "row: active"),
      (
        "t-appstore.decoded.notifications", decoded,
        event("dev.millrace.decoded.notification", "millrace/decoder/notification"), "REFUND"
      ),
      (
        "t-appstore.decoded.transactions", row,
        event("dev.millrace.decoded.transaction", "millrace/decoder/transaction"), "decoded.transaction: active"
      ),
      ("t-millrace.webhook-crm.retry.10s", row, event(type, "millrace/refunds", history), "entitlement.revoked"),
      (
        "t-millrace.webhook-crm.dead-letters", row, event(type, "millrace/refunds", history + died),
        "entitlement.revoked"
      ),
      (audit.topic, String(decoding: audit.value ?? [], as: UTF8.self), audit.headers, "replay: done"),
    ]
    for (topic, value, headers, first) in table {
      let view = RecordView(
        ProducerRecord(topic: topic, key: Array("7".utf8), value: Array(value.utf8), headers: headers).read())
      #expect(view.row[0].text == first, "\(topic)")
      #expect(view.problems.isEmpty, "\(topic): \(view.problems)")
      #expect(view.withoutPayload.json["payload"] == nil && view.json["payload"] != nil, "\(topic)")
      #expect(view.jsonLine.hasPrefix(first.hasPrefix("row") ? "{\"status\"" : "{\"type\""), "\(view.jsonLine)")
    }
    let delayed = RecordView(
      ProducerRecord(topic: table[4].topic, value: Array(row.utf8), headers: table[4].headers).read())
    #expect(delayed.worker == "webhook-crm" && delayed.attempts == 3 && delayed.bundleId == "com.example.app")
    #expect(delayed.notes.first?.text.hasPrefix("webhook-crm: 3 attempts, due 2026-01-01T00:00:00Z, ") == true)
    #expect(delayed.notes.first?.text.hasSuffix("timeout: the database did not answer") == true)
    let dead = RecordView(
      ProducerRecord(topic: table[5].topic, value: Array(row.utf8), headers: table[5].headers).read())
    #expect(dead.json.string("reason") == "attempts-exhausted: gave up", "\(dead.jsonLine)")
    // On a topic of notifications any producer may have written these headers.
    let foreign = RecordView(
      ProducerRecord(topic: "t-appstore.events.refunds", value: Array(row.utf8), headers: table[4].headers).read())
    #expect(foreign.attempts == nil && foreign.worker == "refunds")
  }

  @Test("text is not cut")
  func long() throws {
    let long = String(repeating: "x", count: 5_000)
    #expect(RecordView(ProducerRecord(topic: "t", value: Array(long.utf8)).read()).text == long)
  }

  @Test("a record cannot control the terminal or break the JSON")
  func hostile() throws {
    let escape = "\u{1B}]0;owned\u{07}\u{202E}"
    let record = ProducerRecord(
      topic: "t", key: Array(escape.utf8), value: Array(escape.utf8),
      headers: [RecordHeader("ce_type", NotificationRecord.v2TypePrefix + escape), RecordHeader("ce_subject", escape)])
    let view = RecordView(record.read())
    for cell in view.row + view.notes { #expect(!cell.text.contains("\u{1B}") && !cell.text.contains("\u{202E}")) }
    #expect(try JSONObject(parsing: Array(view.jsonLine.utf8)).string("key") == escape)
  }

  @Test("a damaged record can still be shown")
  func damaged() async throws {
    let seed: UInt64 = 42
    var generator = SeededGenerator(seed: seed)
    let whole = try await fixture.record(v2: fixture.sample(.didRenew)).producerRecord
    for round in 0..<300 {
      var record = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: record.value = record.value.map { damage($0, &generator) }
        case 1: record.key = record.key.map { damage($0, &generator) }
        case 2:
          guard let index = record.headers.indices.randomElement(using: &generator) else { continue }
          record.headers[index].value = record.headers[index].value.map { damage($0, &generator) }
        default:
          guard let index = record.headers.indices.randomElement(using: &generator) else { continue }
          record.headers.remove(at: index)
        }
      }
      let view = RecordView(record.read())
      #expect(view.row.count == RecordView.columns.count)
      #expect(throws: Never.self, "seed \(seed), round \(round)") {
        try JSONObject(parsing: Array(view.jsonLine.utf8))
      }
    }
  }

  private func damage(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    guard let index = bytes.indices.randomElement(using: &generator) else { return bytes }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
    case 1: bytes.removeSubrange(index...)
    default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
    }
    return bytes
  }
}
