import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct LaneItemTests {
  /// Headers of notifications, delayed records and replayed records. Some are missing, duplicate, reordered or
  /// malformed.
  private static func headers(using random: inout SeededGenerator) -> [RecordHeader] {
    var headers = [
      RecordHeader("content-type", "application/jose"), RecordHeader("ce_specversion", "1.0"),
      RecordHeader("ce_id", "n-\(Int.random(in: 0..<4, using: &random))"),
      RecordHeader(
        "ce_type",
        ["com.apple.appstore.notification.v2.DID_RENEW", "com.apple.appstore.notification.v2.NEW", "other"]
          .randomElement(using: &random) ?? ""),
      RecordHeader("ce_source", "appstore/Production/com.example.\(Int.random(in: 0..<2, using: &random))"),
      RecordHeader("ce_subject", "2000000000000001"), RecordHeader("ce_origin", "post"),
    ]
    if Bool.random(using: &random) { headers.append(RecordHeader("ce_subtype", "VOLUNTARY")) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: headers.append(RecordHeader("millrace-attempt", "3"))
    case 1: headers += [RecordHeader("ce_replayid", "r"), RecordHeader("millrace-replay-mode", "reapply")]
    case 2: headers.append(RecordHeader("ce_id", "later"))
    case 3: headers.swapAt(2, 5)
    case 4: headers.remove(at: Int.random(in: headers.indices, using: &random))
    case 5: headers[3] = RecordHeader(name: "ce_type", value: [0x63, 0xFF, 0x6F])
    case 6: headers[4] = RecordHeader(name: "ce_source", value: nil)
    case 7: headers.insert(RecordHeader("millrace-attempt", "2"), at: 3)
    case 8: headers += [RecordHeader("millrace-attempt", "3"), RecordHeader("millrace-attempt", "4")]
    case 9: headers.append(RecordHeader("ce_replayid", "r"))
    case 10: headers = []
    default: break
    }
    return headers
  }

  @Test func `only the event of an erasure passes although its customer is erased`() {
    func announces(_ type: String) -> Bool {
      LaneItem(
        ConsumerRecord(
          topic: "in", partition: 0, offset: 0, timestamp: 0, key: [1], value: [2],
          headers: [RecordHeader("ce_id", "e"), RecordHeader("ce_type", type)]), source: .live
      ).announcesErasure
    }
    #expect(announces("dev.millrace.refunds.customer.erased"))
    for type in [
      "dev.millrace.winback.crm.customer.erased", "dev.millrace.customer.erased", "dev.millrace..customer.erased",
      "com.example.customer.erased", "dev.millrace.refunds.customer.erased2",
    ] { #expect(!announces(type), "\(type)") }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `items of a batch equal items that are parsed alone`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let records = (0..<64).map { offset in
      ConsumerRecord(
        topic: "in", partition: 0, offset: offset, timestamp: 5,
        key: Bool.random(using: &random) ? [1, 2] : nil, value: [3],
        headers: Self.headers(using: &random))
    }
    for (together, record) in zip(LaneItem.batch(records, source: .retry(0)), records) {
      let alone = LaneItem(record, source: .retry(0))
      #expect(together.record == record)
      #expect(together.envelope == alone.envelope && together.history == alone.history, "seed \(seed): \(record)")
      #expect(together.envelope == NotificationEnvelope(record) && together.history == DeliveryHistory(record))
      #expect(together.ledgerID == alone.ledgerID && together.typeLabel == alone.typeLabel, "seed \(seed): \(record)")
      #expect(together.group == alone.group && together.bytes == alone.bytes && together.attempt == alone.attempt)
    }
  }
}
