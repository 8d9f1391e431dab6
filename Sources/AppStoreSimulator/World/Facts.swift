// The facts about customers and purchases, as numbers and indices. Nothing here is signed or formatted.

public import AppStore
package import AppStoreSigning

/// An app in one environment, as its index in ``WorldState/realms``.
public typealias RealmID = Int
/// A customer of one realm, as an index in ``WorldState/customers``.
public typealias CustomerID = Int

/// A customer of an app.
public struct CustomerFacts: Sendable {
  /// The app and the environment.
  public let realm: RealmID
  /// Identifies the customer and the app together.
  public let appTransactionId: Int64
  /// The storefront, a three-letter country code as Apple writes it.
  public let storefront: String
  /// The time at which the customer got the app.
  public let installed: Timestamp
  /// The newest transactions in order of purchase; at most ``WorldLimits/transactionsPerCustomer``.
  public internal(set) var transactions: [Int64] = []
  /// `originalTransactionId` of each subscription.
  public internal(set) var subscriptions: [Int64] = []
  /// Whether a parent has withdrawn consent.
  public internal(set) var hasRescindedConsent = false
}

/// One transaction.
public struct TransactionFacts: Sendable {
  /// `transactionId`.
  public let id: Int64
  /// `originalTransactionId`.
  public let originalId: Int64
  /// `webOrderLineItemId`; only for subscriptions.
  public let webOrderLineItemId: Int64?
  /// The order. ``OrderID`` converts it to text.
  public let orderId: Int64
  /// The customer.
  public let customer: CustomerID
  /// The purchased product, as its index in the app's products.
  public let product: Int
  /// The beginning of the period; for a one-time purchase, the time of purchase.
  public let purchaseDate: Timestamp
  /// The time of the purchase's first transaction.
  public let originalPurchaseDate: Timestamp
  /// The end of the period; only for subscriptions.
  public internal(set) var expires: Timestamp?
  /// The number of items purchased.
  public let quantity: Int64
  /// Purchase or renewal.
  public let reason: TransactionReason
  /// Purchased, or shared through Family Sharing.
  public let ownership: InAppOwnershipType
  /// The offer, as its index in the product's offers.
  public let offer: Int?
  /// The price that was paid, in milliunits of the currency.
  public let price: Int64
  /// The identifier that the team gave the customer.
  public internal(set) var appAccountToken: CompactUUID?
  /// The refund, or the end of Family Sharing.
  package internal(set) var revocation: TransactionPayload.Revocation?
  /// The time at which an upgrade replaced the transaction.
  public internal(set) var upgraded: Timestamp?
  /// Whether the app or the team's server has finished the transaction.
  public internal(set) var isFinished = false
  /// The time of the last change.
  public internal(set) var modified: Timestamp

  /// The time at which the purchase was refunded or was no longer shared.
  public var revocationDate: Timestamp? { revocation?.date }
}

/// The state of an announced price increase.
public struct PriceIncrease: Sendable, Hashable {
  /// The new price in milliunits of the currency.
  public let price: Int64
  /// Whether the customer has consented or does not need to.
  public var isAccepted: Bool
}

/// The Advanced Commerce data of a subscription.
public struct AdvancedCommerceFacts: Sendable, Hashable {
  /// `requestReferenceId` of the last request.
  public var reference: CompactUUID
  /// The number of the metadata's revision.
  public var revision: Int
  /// The item's price in milliunits of the currency.
  public var price: Int64
}

/// The current state of an auto-renewable subscription.
public struct SubscriptionFacts: Sendable {
  /// `originalTransactionId`.
  public let originalTransactionId: Int64
  /// The customer.
  public let customer: CustomerID
  /// Purchased, or shared through Family Sharing.
  public let ownership: InAppOwnershipType
  /// The purchaser's subscription that this one follows; nil if it is not shared.
  public let sharedBy: Int64?
  /// The time of the first transaction.
  public let originalPurchaseDate: Timestamp
  /// The product of the current period, as its index in the app's products.
  public internal(set) var product: Int
  /// The product of the next renewal, as its index in the app's products.
  public internal(set) var nextProduct: Int
  /// The transaction of the current period.
  public internal(set) var transactionId: Int64
  /// Whether the subscription renews automatically.
  public internal(set) var renews = true
  /// Apple's `status`.
  public internal(set) var status = Status.active
  /// The end of the current period, including extensions.
  public internal(set) var expires: Timestamp
  /// The end of the billing grace period.
  public internal(set) var graceExpires: Timestamp?
  /// The time at which Apple stops billing retries; nil outside billing retry.
  public internal(set) var retryEnds: Timestamp?
  /// The reason the subscription ended or is about to end.
  public internal(set) var expirationIntent: ExpirationIntent?
  /// A price increase that was announced but has not taken effect.
  public internal(set) var priceIncrease: PriceIncrease?
  /// The price of the next renewal, in milliunits of the currency.
  public internal(set) var renewalPrice: Int64
  /// The offer for the next period, as its index in the next product's offers.
  public internal(set) var nextOffer: Int?
  /// The beginning of the subscription, or of its latest resubscription.
  public internal(set) var started: Timestamp
  /// The identifier that the team gave the customer.
  public internal(set) var appAccountToken: CompactUUID?
  /// The times at which the renewal date was extended.
  public internal(set) var extensions: [Timestamp] = []
  /// Whether any period was paid for.
  public internal(set) var hasPaidPeriod = false
  /// The Advanced Commerce data; nil unless the subscription has migrated.
  public internal(set) var advancedCommerce: AdvancedCommerceFacts?

  /// Whether the customer has access: the subscription is active or in its billing grace period.
  public var givesService: Bool { status == .active || status == .billingGracePeriod }
}

/// A refund that a customer requested and Apple has not decided.
public struct RefundRequest: Sendable, Hashable {
  /// The time at which the last CONSUMPTION_REQUEST for it was sent or the refund was requested.
  public var asked: Timestamp
  /// The customer's reason.
  public var reason: ConsumptionRequestReason
}

/// A token for external purchases.
public struct ExternalPurchaseTokenFacts: Sendable, Hashable {
  /// The UUID in `externalPurchaseId`.
  public let id: CompactUUID
  /// The time of creation.
  public let created: Timestamp
  /// The expiration time.
  public let expires: Timestamp
  /// The type of the token.
  public let type: ExternalPurchaseTokenType
}

/// Order identifiers as Apple's receipts show them to customers.
public enum OrderID {
  private static let digits = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)

  /// Returns `M` followed by nine letters or digits.
  public static func text(_ orderId: Int64) -> String {
    var text: [UInt8] = []
    var rest = orderId
    for _ in 0..<9 {
      text.append(digits[Int(rest & 31)])
      rest >>= 5
    }
    return "M" + String(decoding: text.reversed(), as: UTF8.self)
  }

  /// Parses an order identifier. Returns nil if the text cannot be one.
  public static func parse(_ text: String) -> Int64? {
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
