// What is known of customers and purchases: numbers and indices, nothing signed, nothing formatted.

public import AppStore
package import AppStoreSigning

/// An app in one environment, by its place in ``WorldState/realms``.
public typealias RealmID = Int
/// A customer of one realm, by place in ``WorldState/customers``.
public typealias CustomerID = Int

/// Somebody who has an app.
public struct CustomerFacts: Sendable {
  /// The app and the environment.
  public let realm: RealmID
  /// Names customer and app together.
  public let appTransactionId: Int64
  /// Three letters, as Apple writes countries.
  public let storefront: String
  /// When the customer got the app.
  public let installed: Timestamp
  /// The newest transactions in the order of purchase; at most ``WorldLimits/transactionsPerCustomer``.
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
  /// `webOrderLineItemId`; of subscriptions.
  public let webOrderLineItemId: Int64?
  /// The order, as text by ``OrderID``.
  public let orderId: Int64
  /// Whose it is.
  public let customer: CustomerID
  /// What was bought: the place in the app's products.
  public let product: Int
  /// When the period, or the possession, begins.
  public let purchaseDate: Timestamp
  /// When the first transaction of the purchase was.
  public let originalPurchaseDate: Timestamp
  /// When the period ends; of subscriptions.
  public internal(set) var expires: Timestamp?
  /// How many were bought.
  public let quantity: Int64
  /// Purchase or renewal.
  public let reason: TransactionReason
  /// Bought, or shared by the family.
  public let ownership: InAppOwnershipType
  /// The place in the product's offers.
  public let offer: Int?
  /// Milliunits that were paid.
  public let price: Int64
  /// The team's name for the customer.
  public internal(set) var appAccountToken: CompactUUID?
  /// A refund or the end of sharing.
  package internal(set) var revocation: TransactionPayload.Revocation?
  /// When an upgrade took its place.
  public internal(set) var upgraded: Timestamp?
  /// Whether the app, or the team's server, has finished it.
  public internal(set) var isFinished = false
  /// The last change.
  public internal(set) var modified: Timestamp

  /// When it was refunded, or no longer shared.
  public var revocationDate: Timestamp? { revocation?.date }
}

/// What an announced price increase waits for.
public struct PriceIncrease: Sendable, Hashable {
  /// The new price in milliunits.
  public let price: Int64
  /// Whether the customer agreed, or need not.
  public var isAccepted: Bool
}

/// What Advanced Commerce adds to a subscription.
public struct AdvancedCommerceFacts: Sendable, Hashable {
  /// `requestReferenceId` of the last request.
  public var reference: CompactUUID
  /// How often the metadata changed.
  public var revision: Int
  /// The item's price in milliunits.
  public var price: Int64
}

/// An auto-renewable subscription at this moment.
public struct SubscriptionFacts: Sendable {
  /// `originalTransactionId`.
  public let originalTransactionId: Int64
  /// Whose it is.
  public let customer: CustomerID
  /// Bought, or shared by the family.
  public let ownership: InAppOwnershipType
  /// The purchaser's subscription that this one follows; nil: it lives by itself.
  public let sharedBy: Int64?
  /// When the first transaction was.
  public let originalPurchaseDate: Timestamp
  /// The present period's product: the place in the app's products.
  public internal(set) var product: Int
  /// The product of the next renewal.
  public internal(set) var nextProduct: Int
  /// The present period's transaction.
  public internal(set) var transactionId: Int64
  /// Whether it renews by itself.
  public internal(set) var renews = true
  /// Apple's `status`.
  public internal(set) var status = Status.active
  /// When the present period ends, extensions included.
  public internal(set) var expires: Timestamp
  /// When the billing grace period ends.
  public internal(set) var graceExpires: Timestamp?
  /// When Apple gives up billing; nil outside of billing retry.
  public internal(set) var retryEnds: Timestamp?
  /// Why it ended or is about to.
  public internal(set) var expirationIntent: ExpirationIntent?
  /// An increase that was announced and has not taken effect.
  public internal(set) var priceIncrease: PriceIncrease?
  /// Milliunits of the next renewal.
  public internal(set) var renewalPrice: Int64
  /// The offer of the next period: the place in the next product's offers.
  public internal(set) var nextOffer: Int?
  /// Since when it has been subscribed without a gap.
  public internal(set) var started: Timestamp
  /// The team's name for the customer.
  public internal(set) var appAccountToken: CompactUUID?
  /// When its renewal date was extended.
  public internal(set) var extensions: [Timestamp] = []
  /// Whether any period was paid for.
  public internal(set) var hasPaidPeriod = false
  /// Set once it belongs to Advanced Commerce.
  public internal(set) var advancedCommerce: AdvancedCommerceFacts?

  /// Whether it gives service.
  public var givesService: Bool { status == .active || status == .billingGracePeriod }
}

/// A refund that a customer asked for and Apple has not decided.
public struct RefundRequest: Sendable, Hashable {
  /// When the last CONSUMPTION_REQUEST for it was sent, or when it was asked for.
  public var asked: Timestamp
  /// Why the customer wants it.
  public var reason: ConsumptionRequestReason
}

/// A token for external purchases.
public struct ExternalPurchaseTokenFacts: Sendable, Hashable {
  /// The UUID in `externalPurchaseId`.
  public let id: CompactUUID
  /// When it was made.
  public let created: Timestamp
  /// When it ends.
  public let expires: Timestamp
  /// What it is for.
  public let type: ExternalPurchaseTokenType
}

/// Order identifiers as customers read them in Apple's receipts.
public enum OrderID {
  private static let digits = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)

  /// `M` and nine letters or digits.
  public static func text(_ orderId: Int64) -> String {
    var text: [UInt8] = []
    var rest = orderId
    for _ in 0..<9 {
      text.append(digits[Int(rest & 31)])
      rest >>= 5
    }
    return "M" + String(decoding: text.reversed(), as: UTF8.self)
  }

  /// The order that a text names; nil when it cannot be one.
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
