// From a verified notification to the record that keeps it: the bytes as they came, everything a reader wants to know
// without decoding them in headers. The only place where those headers are made.

public import AppStore
internal import Crypto
public import Kafka

/// A notification as it is written to Kafka.
public struct NotificationRecord: Sendable, Hashable {
  /// The topic's name in Kafka.
  public var topic: String
  /// What orders it; never empty.
  public var key: String
  /// The bytes as they came (version 1: without `password`).
  public var value: [UInt8]
  /// The headers' content.
  public var event: CloudEvent

  /// What ``event`` says of a version 2 notification's type, followed by the type.
  public static let v2TypePrefix = "com.apple.appstore.notification.v2."
  /// What ``event`` says of a version 1 notification's type, followed by the type.
  public static let v1TypePrefix = "com.apple.appstore.notification.v1."
  /// `ce_type` ends with this where Apple's field is absent or no text.
  public static let absentType = "UNRECOGNIZED"

  /// The record for Kafka. It carries no timestamp: retention counts from the writing, not from `signedDate`.
  public var producerRecord: ProducerRecord {
    ProducerRecord(topic: topic, key: Array(key.utf8), value: value, headers: event.headers)
  }

  /// The record of a version 2 notification that was verified.
  ///
  /// - Parameters:
  ///   - jws: The JWS exactly as Apple signed it (`signedPayload`).
  ///   - payload: Its payload.
  ///   - transaction: The payload of its signed transaction, verified, when there is one.
  ///   - renewalInfo: The payload of its signed renewal info, verified, when there is one.
  ///   - appTransaction: The payload of its signed app transaction, verified, when there is one.
  ///   - origin: How it came.
  ///   - traceParent: The trace of the request, when there is one.
  ///   - router: Where its type goes.
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

  /// The record of a version 1 notification whose shared secret was right.
  ///
  /// - Parameters:
  ///   - value: The body without `password`, otherwise byte for byte as posted.
  ///   - body: The same, decoded.
  ///   - bundleId: The app it is for; bodies of 2019 do not say.
  ///   - passwordPlace: Where `password` stood, as far as it is known.
  ///   - receivedAt: When it was received: version 1 says nothing better.
  ///   - origin: How it came.
  ///   - traceParent: The trace of the request, when there is one.
  ///   - router: Where its type goes.
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

  /// `appstore/<environment>/<bundleId>`; `unknown` stands for what a notification does not say.
  static func source(_ environment: AppStoreEnvironment?, _ bundleId: String?) -> String {
    "appstore/\(environment?.rawValue ?? "unknown")/\(bundleId ?? "unknown")"
  }

  /// SHA-256 in lower-case hexadecimal.
  package static func digest(of bytes: [UInt8]) -> String { Hex.text(SHA256.hash(data: bytes)) }
}
