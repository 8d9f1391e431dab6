// A notification as the world keeps it: what it is about, as things were when it happened. Payload and signature are
// made of it when it is sent or asked for.

public import AppStore
public import AppStoreSigning

/// What a summary says.
public struct ExtensionSummary: Sendable, Hashable {
  /// The product whose subscribers were extended.
  public let productId: String
  /// The request that it answers.
  public let requestIdentifier: String
  /// nil: every storefront.
  public let storefronts: [String]?
  /// How many were extended.
  public let succeeded: Int64
  /// How many were not.
  public let failed: Int64
}

/// What type and subtype of version 2 leave open, and version 1 tells apart.
public enum NotificationCause: UInt8, Sendable, Hashable {
  /// Nothing but what they say.
  case itself
  /// A refund of a subscription's present period, which switched its renewal off.
  case refund
  /// A customer whose subscription had ended takes the same product again.
  case sameProduct
}

/// One notification.
public struct NotificationFacts: Sendable {
  /// What it carries.
  public enum Content: Sendable {
    /// A transaction and, for subscriptions, its subscription; the reason belongs to CONSUMPTION_REQUEST.
    case purchase(TransactionFacts, SubscriptionFacts?, reason: ConsumptionRequestReason?)
    /// The result of a mass extension.
    case summary(ExtensionSummary)
    /// A token for external purchases.
    case token(ExternalPurchaseTokenFacts)
    /// A customer whose parent withdrew consent.
    case consent(CustomerID)
    /// Nothing.
    case test
  }

  /// `notificationUUID`.
  public let uuid: CompactUUID
  /// Which of its realm's: from 0, without gaps.
  public let sequence: Int64
  /// The app and the environment.
  public let realm: RealmID
  /// Type and subtype.
  public let kind: SampleKind
  /// `signedDate`.
  public let signedDate: Timestamp
  /// What it is about.
  public let content: Content
  /// What led to it.
  public var cause = NotificationCause.itself
}

/// One attempt to deliver (App Store Server API, `sendAttemptItem`).
public struct SendAttempt: Sendable, Hashable {
  /// When it was made.
  public let date: Timestamp
  /// How it ended.
  public let result: SendAttemptResult
}

/// A notification and what came of it.
public struct NotificationRecord: Sendable {
  /// What it says.
  public let facts: NotificationFacts
  /// Attempts in the order they were made, at most six; duplicates sent on purpose are not among them.
  public internal(set) var attempts: [SendAttempt] = []
  /// The signatures of its tokens, so that a retry sends the same bytes; nil before it was sent.
  var signatures: TokenSignatures?
  /// Deliveries that are not over, the one not yet planned included.
  var openDeliveries: Int

  var isSettled: Bool { openDeliveries <= 0 }
}

/// The signatures of the tokens in one notification. Payloads are made anew from facts; these cannot be.
struct TokenSignatures: Sendable, Hashable {
  var outer: [UInt8]
  var transaction: [UInt8]?
  var renewalInfo: [UInt8]?
}

/// Names a record: the realm and the place in its log.
public struct NotificationID: Sendable, Hashable {
  /// The app and the environment.
  public let realm: RealmID
  /// The place in its log.
  public let sequence: Int64
}
