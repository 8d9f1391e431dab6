// A notification as a handler gets it: verified, decoded, with the bytes it came in and where they stand.

public import AppStore
public import AppStoreSignature
internal import Kafka

/// A notification that Apple is known to have made.
public struct Notification: Sendable {
  /// What it says, by the version of App Store Server Notifications.
  public enum Content: Sendable {
    /// Signed by Apple; inner tokens verified.
    case v2(VerifiedNotification)
    /// Unsigned: what came with the shared secret. A hint, to be confirmed before anything is done.
    case v1(ResponseBodyV1)
    /// No notification: a transaction signed by Apple, which it returned when it was asked.
    case found(JWSTransactionDecodedPayload)
  }

  /// `notificationUUID`; of a version 1 body the SHA-256 in hexadecimal.
  public let id: String
  /// What happened.
  public let event: NotificationEvent
  /// What it says.
  public let content: Content
  /// What orders it: `originalTransactionId` for most.
  public let key: String
  /// The app.
  public let bundleId: String?
  /// Production or sandbox.
  public let environment: AppStoreEnvironment?
  /// When Apple signed it; of version 1, when it was received.
  public let signedDate: Timestamp?
  /// The bytes as Apple signed them; of version 1 the body without its password.
  public let bytes: [UInt8]
  /// Where it was first read, how often it was tried, whether it is a replay.
  public let provenance: Provenance
  /// The trace it belongs to.
  public let traceParent: TraceParent?
  /// Where the secret of a version 1 body stood, as far as it is known.
  public internal(set) var passwordPlace: ResponseBodyV1.PasswordPlace?

  package init(
    id: String, event: NotificationEvent, content: Content, key: String, bundleId: String?,
    environment: AppStoreEnvironment?, signedDate: Timestamp?, bytes: [UInt8], provenance: Provenance,
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
    self.provenance = provenance
    self.traceParent = traceParent
  }

  /// When Kafka first had it.
  public var receivedAt: Timestamp { Timestamp(millisecondsSince1970: provenance.firstTimestamp) }
  /// The verified payload; nil for version 1.
  public var payload: ResponseBodyV2DecodedPayload? {
    if case .v2(let verified) = content { verified.payload } else { nil }
  }
  /// The verified transaction, when there is one.
  public var transaction: JWSTransactionDecodedPayload? {
    switch content {
    case .v2(let verified): verified.transaction
    case .found(let transaction): transaction
    case .v1: nil
    }
  }
  /// The verified renewal info, when there is one.
  public var renewalInfo: JWSRenewalInfoDecodedPayload? {
    if case .v2(let verified) = content { verified.renewalInfo } else { nil }
  }
  /// The verified app transaction, when there is one.
  public var appTransaction: AppTransaction? {
    if case .v2(let verified) = content { verified.appTransaction } else { nil }
  }
  /// The result of a mass extension, when it is one.
  public var summary: NotificationSummary? { payload?.summary }
}

/// Why a record is no notification that may be acted on. The raw value is the dead letter's code.
public struct UndecodableRecord: Error, Sendable, Hashable, CustomStringConvertible {
  /// The class.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The record has no value.
    case tombstone
    /// Headers are missing or garbled.
    case headers
    /// The value is not what its headers say.
    case malformed
    /// Apple did not sign it, or not for a configured app.
    case unverified
  }

  /// The class.
  public var reason: Reason
  /// What is wrong; quotes nothing of the record.
  public var description: String
  /// Whether trying again may help: a responder that did not answer.
  public var isTemporary = false
}
