// The facts about customers and purchases, as numbers and indices. Nothing here is signed or formatted.

package import AppStore
package import AppStoreSigning

/// An app in one environment, as its index in ``WorldState/realms``.
package typealias RealmID = Int
/// A customer of one realm, as an index in ``WorldState/customers``.
package typealias CustomerID = Int

/// A customer of an app.
package struct CustomerFacts: Sendable {
  /// The app and the environment.
  package let realm: RealmID
  /// Identifies the customer and the app together.
  package let appTransactionId: Int64
  /// The storefront, a three-letter country code as Apple writes it.
  package let storefront: String
  /// The time at which the customer got the app.
  package let installed: Timestamp
  /// The newest transactions in order of purchase; at most ``WorldLimits/transactionsPerCustomer``.
  package internal(set) var transactions: [Int64] = []
  /// `originalTransactionId` of each subscription.
  package internal(set) var subscriptions: [Int64] = []
  /// Whether a parent has withdrawn consent.
  package internal(set) var hasRescindedConsent = false
}

/// One transaction.
package struct TransactionFacts: Sendable {
  /// `transactionId`.
  package let id: Int64
  /// `originalTransactionId`.
  package let originalId: Int64
  /// `webOrderLineItemId`; only for subscriptions.
  package let webOrderLineItemId: Int64?
  /// The order. ``OrderID`` converts it to text.
  package let orderId: Int64
  /// The customer.
  package let customer: CustomerID
  /// The purchased product, as its index in the app's products.
  package let product: Int
  /// The beginning of the period; for a one-time purchase, the time of purchase.
  package let purchaseDate: Timestamp
  /// The time of the purchase's first transaction.
  package let originalPurchaseDate: Timestamp
  /// The end of the period; only for subscriptions.
  package internal(set) var expires: Timestamp?
  /// The number of items purchased.
  package let quantity: Int64
  /// Purchase or renewal.
  package let reason: TransactionReason
  /// Purchased, or shared through Family Sharing.
  package let ownership: InAppOwnershipType
  /// The offer, as its index in the product's offers.
  package let offer: Int?
  /// The price that was paid, in milliunits of the currency.
  package let price: Int64
  /// The commitment that the period belongs to; nil if there is none.
  package internal(set) var commitment: CommitmentFacts?
  /// The identifier that the team gave the customer.
  package internal(set) var appAccountToken: CompactUUID?
  /// The refund, or the end of Family Sharing.
  package internal(set) var revocation: TransactionPayload.RevocationClaims?
  /// The time at which an upgrade replaced the transaction.
  package internal(set) var upgraded: Timestamp?
  /// Whether the app or the team's server has finished the transaction.
  package internal(set) var isFinished = false
  /// The time of the last change.
  package internal(set) var modified: Timestamp

  /// The time at which the purchase was refunded or was no longer shared.
  package var revocationDate: Timestamp? { revocation?.date }
}

/// The state of an announced price increase.
package struct PriceIncrease: Sendable, Hashable {
  /// The new price in milliunits of the currency.
  package let price: Int64
  /// Whether the customer has consented or does not need to.
  package var isAccepted: Bool
}

/// The Advanced Commerce data of a subscription.
package struct AdvancedCommerceFacts: Sendable, Hashable {
  /// `requestReferenceId` of the last request.
  package var reference: CompactUUID
  /// The number of the metadata's revision.
  package var revision: Int
  /// The item's price in milliunits of the currency.
  package var price: Int64
}

/// The current state of an auto-renewable subscription.
package struct SubscriptionFacts: Sendable {
  /// `originalTransactionId`.
  package let originalTransactionId: Int64
  /// The customer.
  package let customer: CustomerID
  /// Purchased, or shared through Family Sharing.
  package let ownership: InAppOwnershipType
  /// The purchaser's subscription that this one follows; nil if it is not shared.
  package let sharedBy: Int64?
  /// The time of the first transaction.
  package let originalPurchaseDate: Timestamp
  /// The product of the current period, as its index in the app's products.
  package internal(set) var product: Int
  /// The product of the next renewal, as its index in the app's products; within a commitment, of the next commitment.
  package internal(set) var nextProduct: Int
  /// The transaction of the current period.
  package internal(set) var transactionId: Int64
  /// Whether the subscription renews automatically; within a commitment, whether the commitment does.
  package internal(set) var renews = true
  /// Apple's `status`.
  package internal(set) var status = Status.active
  /// The end of the current period, including extensions.
  package internal(set) var expires: Timestamp
  /// The end of the billing grace period.
  package internal(set) var graceExpires: Timestamp?
  /// The time at which Apple stops billing retries; nil outside billing retry.
  package internal(set) var retryEnds: Timestamp?
  /// The reason the subscription ended or is about to end.
  package internal(set) var expirationIntent: ExpirationIntent?
  /// A price increase that was announced but has not taken effect.
  package internal(set) var priceIncrease: PriceIncrease?
  /// The price of each billing period from the next renewal on, in milliunits of the currency; within a commitment, from
  /// the next commitment on.
  package internal(set) var renewalPrice: Int64
  /// The offer for the next period, as its index in the next product's offers.
  package internal(set) var nextOffer: Int?
  /// `recentSubscriptionStartDate`: the beginning of the subscription, or of the latest period after a long gap.
  package internal(set) var started: Timestamp
  /// The identifier that the team gave the customer.
  package internal(set) var appAccountToken: CompactUUID?
  /// The times at which the renewal date was extended.
  package internal(set) var extensions: [Timestamp] = []
  /// Whether any period was paid for.
  package internal(set) var hasPaidPeriod = false
  /// The commitment of the current period; nil if there is none, or if the subscription has ended.
  package internal(set) var commitment: CommitmentFacts?
  /// The Advanced Commerce data; nil unless the subscription has migrated.
  package internal(set) var advancedCommerce: AdvancedCommerceFacts?

  /// Whether the customer has access: the subscription is active or in its billing grace period.
  package var givesService: Bool { status == .active || status == .billingGracePeriod }
}

/// A refund that a customer requested and Apple has not decided.
package struct RefundRequest: Sendable, Hashable {
  /// The time at which the last CONSUMPTION_REQUEST for it was sent or the refund was requested.
  package var asked: Timestamp
  /// The customer's reason.
  package var reason: ConsumptionRequestReason
}

/// A token for external purchases.
package struct ExternalPurchaseTokenFacts: Sendable, Hashable {
  /// The UUID in `externalPurchaseId`.
  package let id: CompactUUID
  /// The time of creation.
  package let created: Timestamp
  /// The expiration time.
  package let expires: Timestamp
  /// The type of the token.
  package let type: ExternalPurchaseTokenType
}

/// Order identifiers as Apple's receipts show them to customers.
package enum OrderID {
  private static let digits = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)

  /// Returns `M` followed by nine letters or digits.
  package static func text(_ orderId: Int64) -> String {
    var text: [UInt8] = []
    var rest = orderId
    for _ in 0..<9 {
      text.append(digits[Int(rest & 31)])
      rest >>= 5
    }
    return "M" + String(decoding: text.reversed(), as: UTF8.self)
  }

  /// Parses an order identifier. Returns nil if the text cannot be one.
  package static func parse(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes.first == UInt8(ascii: "M") else { return nil }
    var orderId: Int64 = 0
    for byte in bytes.dropFirst() {
      guard let digit = digits.firstIndex(of: byte) else { return nil }
      orderId = orderId << 5 | Int64(digit)
    }
    return orderId
  }
}
