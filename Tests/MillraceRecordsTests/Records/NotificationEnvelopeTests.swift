import AppStore
import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct NotificationEnvelopeTests {
  private static let headers = CloudEvent(
    id: "u", source: "appstore/Sandbox/com.example/app", type: "com.apple.appstore.notification.v2.REFUND",
    subject: "7",
    time: Timestamp(millisecondsSince1970: 1_769_860_800_000), contentType: "application/jose",
    extensions: ["origin": "history", "subtype": "NEW"], traceParent: TraceParent(RecordFixtures.trace)
  ).headers

  private static func replacing(_ name: String, _ value: [UInt8]?) -> [RecordHeader] {
    headers.filter { $0.name != name } + [RecordHeader(name: name, value: value)]
  }

  @Test func `Written headers are read back`() {
    let envelope = NotificationEnvelope(Self.headers)
    #expect(envelope.id == "u")
    #expect(envelope.version == .v2)
    #expect(envelope.notificationType == "REFUND")
    #expect(envelope.subtype == Subtype(rawValue: "NEW"))
    #expect(envelope.environment == .sandbox)
    #expect(envelope.bundleId == "com.example/app")
    #expect(envelope.subject == "7")
    #expect(envelope.time == Timestamp(millisecondsSince1970: 1_769_860_800_000))
    #expect(envelope.origin == .history)
    #expect(envelope.contentType == "application/jose")
    #expect(envelope.traceParent?.description == RecordFixtures.trace)
    #expect(envelope.problems.isEmpty)
  }

  @Test(arguments: ["content-type", "ce_specversion", "ce_id", "ce_type", "ce_source", "ce_subject", "ce_origin"])
  func `A header that is missing, empty or without value is reported, the others are read`(name: String) {
    for headers in [
      Self.headers.filter { $0.name != name }, Self.replacing(name, nil), Self.replacing(name, []),
    ] {
      let envelope = NotificationEnvelope(headers)
      #expect(envelope.problems == [.missing(name)])
      #expect((envelope.id == nil) == (name == "ce_id"))
      #expect((envelope.bundleId == nil) == (name == "ce_source"))
    }
  }

  @Test(arguments: ["ce_time", "ce_subtype", "traceparent"])
  func `An absent optional header is not a problem`(name: String) {
    #expect(NotificationEnvelope(Self.headers.filter { $0.name != name }).problems.isEmpty)
  }

  @Test(
    arguments: [
      ("ce_id", [0xFF, 0xFE]), ("ce_type", Array("com.example".utf8)),
      ("ce_type", Array("com.apple.appstore.notification.v2.".utf8)), ("ce_source", Array("appstore/Sandbox".utf8)),
      ("ce_source", Array("other/Sandbox/b".utf8)), ("ce_time", Array("today".utf8)), ("ce_origin", Array("x".utf8)),
      ("ce_specversion", Array("0.3".utf8)), ("traceparent", Array("x".utf8)), ("ce_subtype", [0xC0]),
    ] as [(String, [UInt8])])
  func `A malformed header is reported, the others are read`(name: String, value: [UInt8]) {
    let envelope = NotificationEnvelope(Self.replacing(name, value))
    #expect(envelope.problems == [.malformed(name)])
    #expect(envelope.subject == "7")
  }

  @Test func `The last of several headers with one name counts`() {
    let envelope = NotificationEnvelope(Self.headers + [RecordHeader("ce_id", "last")])
    #expect(envelope.id == "last")
  }

  @Test func `A record without headers has seven problems and does not crash`() {
    let record = ConsumerRecord(topic: "t", partition: 0, offset: 0, timestamp: nil, key: nil, value: nil)
    #expect(NotificationEnvelope(record).problems.count == 7)
  }

  @Test func `Random bytes do not crash the parser`() {
    let seed: UInt64 = 11
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let headers = Self.headers.map { header in
        let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        return RecordHeader(name: header.name, value: Bool.random(using: &generator) ? bytes : header.value)
      }
      #expect(NotificationEnvelope(headers).problems.count <= headers.count, "seed \(seed)")
    }
  }
}
