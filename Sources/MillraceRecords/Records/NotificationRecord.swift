// Creates the record of a verified notification: the value is the received bytes, and the headers hold what a reader
// needs before it decodes the value. Only this file creates those headers.

public import AppStore
internal import Crypto
public import KafkaClient
internal import MillraceCore

/// A notification as it is written to Kafka.
public struct NotificationRecord: Sendable, Hashable {
  /// The topic's name in Kafka.
  public var topic: String
  /// The record's key; never empty.
  public var key: String
  /// The bytes as received (version 1: without `password`).
  public var value: [UInt8]
  /// The content of the headers.
  public var event: CloudEvent

  /// The prefix of ``event``'s type for a version 2 notification; the notification type follows.
  public static let v2TypePrefix = "com.apple.appstore.notification.v2."
  /// The prefix of ``event``'s type for a version 1 notification; the notification type follows.
  public static let v1TypePrefix = "com.apple.appstore.notification.v1."
  /// The end of `ce_type` if Apple's field is absent or not text.
  public static let absentType = "UNRECOGNIZED"

  /// The Kafka record. It has no timestamp, because retention must count from the time of writing, not from
  /// `signedDate`.
  public var producerRecord: ProducerRecord {
    ProducerRecord(topic: topic, key: Array(key.utf8), value: value, headers: event.headers)
  }

  /// Returns the record of a verified version 2 notification.
  ///
  /// - Parameters:
  ///   - jws: The JWS exactly as Apple signed it (`signedPayload`).
  ///   - payload: The decoded payload.
  ///   - transaction: The verified payload of its signed transaction, if there is one.
  ///   - renewalInfo: The verified payload of its signed renewal info, if there is one.
  ///   - appTransaction: The verified payload of its signed app transaction, if there is one.
  ///   - origin: How the notification was received.
  ///   - traceParent: The trace of the request, if there is one.
  ///   - router: The topics of the notification types.
  public static func v2(
    jws: [UInt8], payload: ResponseBodyV2DecodedPayload, transaction: JWSTransactionDecodedPayload?,
    renewalInfo: JWSRenewalInfoDecodedPayload?, appTransaction: AppTransaction?, origin: NotificationOrigin,
    traceParent: TraceParent?, router: NotificationRouter
  ) -> NotificationRecord {
    let id = payload.notificationUUID.flatMap { $0.isEmpty ? nil : $0 } ?? digest(of: jws)
    let key =
      OrderingKey.of(payload, transaction: transaction, renewalInfo: renewalInfo, appTransaction: appTransaction) ?? id
    var extensions = ["origin": origin.rawValue]
    if let subtype = payload.subtype { extensions["subtype"] = subtype.rawValue }
    let event = CloudEvent(
      id: id, source: source(payload.environment, payload.bundleId),
      type: v2TypePrefix + (payload.notificationType?.rawValue ?? absentType), subject: key,
      time: payload.signedDate, contentType: "application/jose", extensions: extensions, traceParent: traceParent)
    return NotificationRecord(
      topic: router.topic(for: payload.notificationType), key: key, value: jws, event: event)
  }

  /// Returns the record of a version 1 notification with a valid shared secret.
  ///
  /// - Parameters:
  ///   - value: The body without `password`, otherwise byte for byte as posted.
  ///   - body: The decoded body.
  ///   - bundleId: The app; bodies of 2019 do not name it.
  ///   - passwordPlace: The position of `password`, if known.
  ///   - receivedAt: The time of receipt; version 1 has no better time.
  ///   - origin: How the notification was received.
  ///   - traceParent: The trace of the request, if there is one.
  ///   - router: The topics of the notification types.
  public static func v1(
    value: [UInt8], body: ResponseBodyV1, bundleId: String?, passwordPlace: ResponseBodyV1.PasswordPlace? = nil,
    receivedAt: Timestamp, origin: NotificationOrigin, traceParent: TraceParent?, router: NotificationRouter
  ) -> NotificationRecord {
    let id = digest(of: value)
    let key = OrderingKey.of(body) ?? id
    var extensions = ["origin": origin.rawValue]
    if let passwordPlace { extensions["passwordplace"] = passwordPlace.headerText }
    let event = CloudEvent(
      id: id, source: source(body.appStoreEnvironment, bundleId ?? body.bundleId),
      type: v1TypePrefix + (body.notification_type?.rawValue ?? absentType), subject: key, time: receivedAt,
      contentType: "application/json", extensions: extensions, traceParent: traceParent)
    return NotificationRecord(topic: router.topic(for: body.notification_type), key: key, value: value, event: event)
  }

  /// Returns `appstore/<environment>/<bundleId>`, with `unknown` for an absent value.
  static func source(_ environment: AppStoreEnvironment?, _ bundleId: String?) -> String {
    "appstore/\(environment?.rawValue ?? "unknown")/\(bundleId ?? "unknown")"
  }

  /// Returns the SHA-256 digest in lower-case hexadecimal.
  public static func digest(of bytes: [UInt8]) -> String { Hex.text(SHA256.hash(data: bytes)) }
}
