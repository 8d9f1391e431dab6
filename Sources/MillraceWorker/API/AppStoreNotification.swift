// The verified and decoded notification that a handler receives, with its original bytes and its position in Kafka.

public import AppStore
public import AppStoreSignature
internal import KafkaClient
public import MillraceRecords

/// An App Store notification.
public struct AppStoreNotification: Sendable {
  /// The content, by version of App Store Server Notifications.
  public enum Content: Sendable {
    /// A version 2 notification, signed by Apple. Its signature covers the inner tokens.
    case v2(VerifiedNotification)
    /// A version 1 notification: unsigned, received with the shared secret. Treat it as a hint and confirm it before
    /// you act.
    case v1(ResponseBodyV1)
    /// A transaction signed by Apple that was found by querying the API, not received as a notification.
    case found(JWSTransactionDecodedPayload)
    /// A request to ask Apple about a purchase. Only the key says which.
    case request
  }

  /// `notificationUUID`; for a version 1 notification, the SHA-256 of its body in hexadecimal.
  public let id: String
  /// The type and subtype.
  public let event: NotificationEvent
  /// The decoded content.
  public let content: Content
  /// The ordering key: `originalTransactionId` for most notifications.
  public let key: String
  /// The app's bundle identifier.
  public let bundleId: String?
  /// The App Store environment: production or sandbox.
  public let environment: AppStoreEnvironment?
  /// The time when Apple signed the notification; for version 1, the time when it was received.
  public let signedDate: Timestamp?
  /// The bytes that Apple signed; for version 1, the body without its password.
  public let bytes: [UInt8]
  /// The record's original position, its attempts, and whether it is a replay.
  public let history: DeliveryHistory
  /// The trace that the notification belongs to.
  public let traceParent: TraceParent?
  /// The place of the shared secret in a version 1 body, if known.
  public internal(set) var passwordPlace: ResponseBodyV1.PasswordPlace?

  package init(
    id: String, event: NotificationEvent, content: Content, key: String, bundleId: String?,
    environment: AppStoreEnvironment?, signedDate: Timestamp?, bytes: [UInt8], history: DeliveryHistory,
    traceParent: TraceParent?
  ) {
    self.id = id
    self.event = event
    self.content = content
    self.key = key
    self.bundleId = bundleId
    self.environment = environment
    self.signedDate = signedDate
    self.bytes = bytes
    self.history = history
    self.traceParent = traceParent
  }

  /// The time when the notification was first written to Kafka.
  public var receivedAt: Timestamp { Timestamp(millisecondsSince1970: history.firstTimestamp) }
  /// The verified payload of a version 2 notification; nil otherwise.
  public var payload: ResponseBodyV2DecodedPayload? {
    if case .v2(let verified) = content { verified.payload } else { nil }
  }
  /// The transaction of the notification, if there is one. To store the signed token or to send it on, verify it first:
  /// ``VouchedToken/verified(by:identity:)``.
  public var transaction: JWSTransactionDecodedPayload? {
    switch content {
    case .v2(let verified): verified.transaction?.payload
    case .found(let transaction): transaction
    case .v1, .request: nil
    }
  }
  /// The renewal info of the notification, if there is one.
  public var renewalInfo: JWSRenewalInfoDecodedPayload? {
    if case .v2(let verified) = content { verified.renewalInfo?.payload } else { nil }
  }
  /// The app transaction of the notification, if there is one.
  public var appTransaction: AppTransaction? {
    if case .v2(let verified) = content { verified.appTransaction?.payload } else { nil }
  }
  /// The result of a mass renewal-date extension, if the notification reports one.
  public var summary: NotificationSummary? { payload?.summary }
}

/// The reason why a record cannot be processed as a notification. The raw value of ``Reason`` is the dead letter's
/// code.
package struct UndecodableRecord: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of problem.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The record has no value.
    case tombstone
    /// Headers are missing or malformed.
    case headers
    /// The value does not match its headers.
    case malformed
    /// Apple did not sign the value, or signed it for an app that is not configured.
    case unverified
  }

  /// The kind of problem.
  package var reason: Reason
  /// A description of the problem. It contains no data of the record.
  package var description: String
  /// Whether a retry may help, for instance because the revocation responder did not answer.
  package var isTemporary = false
}
