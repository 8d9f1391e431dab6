import AppStore
import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct NotificationRecordTests {
  private static let jws = Array("header.payload.signature".utf8)

  private static func v2(
    _ payload: String, transaction: String? = nil, origin: NotificationOrigin = .post
  ) throws -> ProducerRecord {
    NotificationRecord.v2(
      jws: jws, payload: try RecordFixtures.payload(payload),
      transaction: try transaction.map { JWSTransactionDecodedPayload(json: try RecordFixtures.object($0)) },
      renewalInfo: nil, appTransaction: nil, origin: origin, traceParent: TraceParent(RecordFixtures.trace),
      router: try RecordFixtures.router()
    ).producerRecord
  }

  private static let full = """
    {"notificationType":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED","notificationUUID":"u-1",
    "data":{"appAppleId":1,"bundleId":"com.example.app","environment":"Production"},"signedDate":1769860800123}
    """

  @Test func `A version 2 record has exactly the documented headers`() throws {
    let record = try Self.v2(Self.full, transaction: #"{"originalTransactionId":"1000"}"#)
    #expect(record.topic == "appstore.notifications.subscriptions")
    #expect(record.key == Array("1000".utf8))
    #expect(record.value == Self.jws)
    #expect(record.timestamp == nil)
    #expect(record.partition == nil)
    #expect(
      record.headers.map { "\($0.name)=\(String(decoding: $0.value ?? [], as: UTF8.self))" } == [
        "content-type=application/jose", "ce_specversion=1.0", "ce_id=u-1",
        "ce_type=com.apple.appstore.notification.v2.DID_CHANGE_RENEWAL_STATUS",
        "ce_source=appstore/Production/com.example.app", "ce_subject=1000", "ce_time=2026-01-31T12:00:00.123Z",
        "ce_origin=post", "ce_subtype=AUTO_RENEW_DISABLED", "traceparent=\(RecordFixtures.trace)",
      ])
  }

  @Test func `A value that Apple did not send has no header`() throws {
    let record = try Self.v2(
      #"{"notificationType":"TEST","notificationUUID":"u","data":{"bundleId":"b","environment":"Sandbox"}}"#)
    let headers = RecordFixtures.headers(record)
    #expect(headers["ce_subtype"] == nil)
    #expect(headers["ce_time"] == nil)
    #expect(headers["ce_subject"] == "u")
    #expect(record.topic == "appstore.notifications.tests")
  }

  @Test(arguments: NotificationOrigin.allCases)
  func `The record has the origin in a header`(origin: NotificationOrigin) throws {
    #expect(RecordFixtures.headers(try Self.v2(Self.full, origin: origin))["ce_origin"] == origin.rawValue)
  }

  @Test func `An unknown type keeps its name and goes to the topic for unrecognized types`() throws {
    let record = try Self.v2(#"{"notificationType":"NEW_TYPE","notificationUUID":"u"}"#)
    #expect(record.topic == "appstore.notifications.unrecognized")
    #expect(RecordFixtures.headers(record)["ce_type"] == "com.apple.appstore.notification.v2.NEW_TYPE")
  }

  @Test(arguments: ["{}", #"{"notificationType":7,"notificationUUID":[],"data":"x"}"#])
  func `A payload without known fields becomes a record whose ID is its digest`(payload: String) throws {
    let record = try Self.v2(payload)
    let headers = RecordFixtures.headers(record)
    #expect(record.topic == "appstore.notifications.unrecognized")
    #expect(headers["ce_id"] == NotificationRecord.digest(of: Self.jws))
    #expect(record.key == Array(NotificationRecord.digest(of: Self.jws).utf8))
    #expect(headers["ce_type"] == "com.apple.appstore.notification.v2.UNRECOGNIZED")
    #expect(headers["ce_source"] == "appstore/unknown/unknown")
  }

  private static func v1(_ body: String, bundleId: String? = nil) throws -> ProducerRecord {
    NotificationRecord.v1(
      value: Array(body.utf8), body: ResponseBodyV1(json: try RecordFixtures.object(body)), bundleId: bundleId,
      receivedAt: Timestamp(millisecondsSince1970: 1_769_860_800_000), origin: .post,
      traceParent: TraceParent(RecordFixtures.trace), router: try RecordFixtures.router()
    ).producerRecord
  }

  @Test func `A version 1 record has exactly the documented headers`() throws {
    let body =
      #"{"notification_type":"CANCEL","environment":"PROD","bid":"com.example.app","original_transaction_id":"7"}"#
    let record = try Self.v1(body)
    #expect(record.topic == "appstore.notifications.refunds")
    #expect(record.key == Array("7".utf8))
    #expect(record.value == Array(body.utf8))
    #expect(
      record.headers.map { "\($0.name)=\(String(decoding: $0.value ?? [], as: UTF8.self))" } == [
        "content-type=application/json", "ce_specversion=1.0",
        "ce_id=\(NotificationRecord.digest(of: Array(body.utf8)))",
        "ce_type=com.apple.appstore.notification.v1.CANCEL", "ce_source=appstore/Production/com.example.app",
        "ce_subject=7", "ce_time=2026-01-31T12:00:00.000Z", "ce_origin=post", "traceparent=\(RecordFixtures.trace)",
      ])
  }

  @Test func `The position of the password is written to a header and read back`() throws {
    let posted = #"{"notification_type":"DID_RENEW", "password": "0123","environment":"Sandbox"}"#
    let envelope = try ResponseBodyV1.Envelope(parsing: Array(posted.utf8))
    let place = try #require(envelope.passwordPlace)
    let admitted = AdmittedNotification.v1(
      envelope.body, value: envelope.bytes, bundleId: "com.example.app", passwordPlace: place)
    let record = admitted.record(
      origin: .post, traceParent: nil, receivedAt: Timestamp(millisecondsSince1970: 0),
      router: try RecordFixtures.router()
    ).producerRecord
    let text = "34 2270617373776f7264223a2022 222c"
    #expect(RecordFixtures.headers(record)["ce_passwordplace"] == text)
    let read = NotificationEnvelope(record.headers)
    #expect(read.passwordPlace == place && read.problems.isEmpty)
    #expect(place.restoring("0123".utf8, to: record.value ?? []) == Array(posted.utf8))
  }

  @Test(arguments: ["", "1", "1 22", "-1 22 22", "1 22 2", "1 22 zz", "x 22 22", "1 22 22 22"])
  func `A malformed password position is rejected`(text: String) {
    #expect(ResponseBodyV1.PasswordPlace(headerText: text) == nil)
  }

  @Test func `The app of the shared secret is the source if the body names no app`() throws {
    let record = try Self.v1(#"{"notification_type":"DID_RENEW","environment":"Sandbox"}"#, bundleId: "com.example.app")
    #expect(RecordFixtures.headers(record)["ce_source"] == "appstore/Sandbox/com.example.app")
  }

  /// The one-block example of FIPS 180-4.
  @Test func `The digest is SHA-256 in lower-case hexadecimal`() {
    #expect(
      NotificationRecord.digest(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
