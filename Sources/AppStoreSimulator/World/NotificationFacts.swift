// A notification as the world stores it: the facts at the time it happened. The simulator builds the payload and the
// signature when it sends the notification or answers a request for it.

public import AppStore
public import AppStoreSigning

/// The result of a mass extension.
public struct ExtensionSummary: Sendable, Hashable {
  /// The product whose subscriptions were extended.
  public let productId: String
  /// The identifier of the mass extension request.
  public let requestIdentifier: String
  /// The storefronts; nil for every storefront.
  public let storefronts: [String]?
  /// The number of subscriptions that were extended.
  public let succeeded: Int64
  /// The number of subscriptions that were not extended.
  public let failed: Int64
}

/// Details that version 1 distinguishes but the type and subtype of version 2 do not.
public enum NotificationCause: UInt8, Sendable, Hashable {
  /// No further detail.
  case itself
  /// The refund of a subscription's current period, which turned auto-renewal off.
  case refund
  /// A customer resubscribed to the same product after expiration.
  case sameProduct
}

/// One notification.
public struct NotificationFacts: Sendable {
  /// The content of a notification.
  public enum Content: Sendable {
    /// A transaction and its subscription, if it has one. The reason is set for CONSUMPTION_REQUEST only.
    case purchase(TransactionFacts, SubscriptionFacts?, reason: ConsumptionRequestReason?)
    /// The result of a mass extension.
    case summary(ExtensionSummary)
    /// A token for external purchases.
    case token(ExternalPurchaseTokenFacts)
    /// A customer whose parent withdrew consent.
    case consent(CustomerID)
    /// No content.
    case test
  }

  /// `notificationUUID`.
  public let uuid: CompactUUID
  /// The position in the realm's notifications, starting at 0 without gaps.
  public let sequence: Int64
  /// The app and the environment.
  public let realm: RealmID
  /// Type and subtype.
  public let kind: SampleKind
  /// `signedDate`.
  public let signedDate: Timestamp
  /// The content.
  public let content: Content
  /// The cause, for version 1.
  public var cause = NotificationCause.itself
}

/// A delivery attempt (App Store Server API, `sendAttemptItem`).
public struct SendAttempt: Sendable, Hashable {
  /// The time of the attempt.
  public let date: Timestamp
  /// The result of the attempt.
  public let result: SendAttemptResult
}

/// A notification and its delivery attempts.
public struct NotificationRecord: Sendable {
  /// The facts of the notification.
  public let facts: NotificationFacts
  /// The attempts in order, at most six. Deliberate duplicates are not included.
  public internal(set) var attempts: [SendAttempt] = []
  /// The signatures of its tokens, so that a retry sends the same bytes; nil before the first attempt.
  var signatures: TokenSignatures?
  /// The number of unfinished deliveries. A notification whose deliveries are not yet scheduled counts as one.
  var openDeliveries: Int

  var isSettled: Bool { openDeliveries <= 0 }
}

/// The signatures of the tokens in one notification. A payload can be rebuilt from the facts; a signature cannot.
struct TokenSignatures: Sendable, Hashable {
  var outer: [UInt8]
  var transaction: [UInt8]?
  var renewalInfo: [UInt8]?
}

/// Identifies a record by its realm and its position in the realm's log.
public struct NotificationID: Sendable, Hashable {
  /// The app and the environment.
  public let realm: RealmID
  /// The position in the realm's log.
  public let sequence: Int64
}
