// A notification as the world stores it: the facts at the time it happened. The simulator builds the payload and the
// signature when it sends the notification or answers a request for it.

package import AppStore
package import AppStoreSigning

/// The result of a mass extension.
package struct ExtensionSummary: Sendable, Hashable {
  /// The product whose subscriptions were extended.
  package let productId: String
  /// The identifier of the mass extension request.
  package let requestIdentifier: String
  /// The storefronts; nil for every storefront.
  package let storefronts: [String]?
  /// The number of subscriptions that were extended.
  package let succeeded: Int64
  /// The number of subscriptions that were not extended.
  package let failed: Int64
}

/// Details that version 1 distinguishes but the type and subtype of version 2 do not.
package enum NotificationCause: UInt8, Sendable, Hashable {
  /// No further detail.
  case itself
  /// The refund of a subscription's current period, which turned auto-renewal off.
  case refund
  /// A customer resubscribed to the same product after expiration.
  case sameProduct
}

/// One notification.
package struct NotificationFacts: Sendable {
  /// The content of a notification.
  package enum Content: Sendable {
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
  package let uuid: CompactUUID
  /// The position in the realm's notifications, starting at 0 without gaps.
  package let sequence: Int64
  /// The app and the environment.
  package let realm: RealmID
  /// Type and subtype.
  package let kind: SampleKind
  /// `signedDate`.
  package let signedDate: Timestamp
  /// The content.
  package let content: Content
  /// The cause, for version 1.
  package var cause = NotificationCause.itself
}

/// A delivery attempt (App Store Server API, `sendAttemptItem`).
package struct SendAttempt: Sendable, Hashable {
  /// The time of the attempt.
  package let date: Timestamp
  /// The result of the attempt.
  package let result: SendAttemptResult
}

/// A notification and its delivery attempts.
package struct NotificationLogEntry: Sendable {
  /// The facts of the notification.
  package let facts: NotificationFacts
  /// The attempts in order, at most six. Deliberate duplicates are not included.
  package internal(set) var attempts: [SendAttempt] = []
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
package struct NotificationID: Sendable, Hashable {
  /// The app and the environment.
  package let realm: RealmID
  /// The position in the realm's log.
  package let sequence: Int64
}
