// One transaction of a subscription: a period that the customer bought or that Apple renewed.

internal import AppStore

/// A period of a subscription, from its signed transaction.
struct Period: Sendable, Hashable {
  var transactionId: String
  var productId: String?
  var purchaseDate: Timestamp
  var expiresDate: Timestamp?
  /// When the customer first bought the subscription.
  var originalPurchaseDate: Timestamp?
  var revocationDate: Timestamp?
  var revocationReason: RevocationReason?
  /// Whether the customer upgraded within this period. Another period then replaces it.
  var isUpgraded = false
  /// Whether Apple renewed the subscription; otherwise the customer bought it.
  var isRenewal = false
  var offer: Offer?
  /// The price in thousandths of the currency.
  var price: Int64?
  var currency: String?
  var subscriptionGroup: String?
  var ownership: InAppOwnershipType?
  var appAccountToken: String?
  var appTransactionId: String?
  /// The commitment that the period belongs to.
  var commitment: Commitment?
  /// When Apple signed the transaction.
  var signedDate: Timestamp
  /// When Apple last signed the transaction as revoked, if this version of it is not revoked.
  var lastRevoked: Timestamp?
  /// When Apple last signed the transaction in a REFUND_REVERSED.
  var lastReversed: Timestamp?

  /// Creates the period of a transaction; nil if the transaction has no id or no purchase date.
  /// - Parameter signedBy: The signature time if the transaction has none of its own. Nil: the transaction needs one.
  init?(_ transaction: JWSTransactionDecodedPayload, signedBy time: Timestamp? = nil) {
    guard let id = transaction.transactionId, !id.isEmpty, let purchaseDate = transaction.purchaseDate,
      let signedDate = transaction.signedDate ?? time
    else { return nil }
    transactionId = id
    productId = transaction.productId
    self.purchaseDate = purchaseDate
    expiresDate = transaction.expiresDate
    originalPurchaseDate = transaction.originalPurchaseDate
    revocationDate = transaction.revocationDate
    revocationReason = transaction.revocationReason
    isUpgraded = transaction.isUpgraded ?? false
    isRenewal = transaction.transactionReason == .renewal
    offer = Offer(transaction)
    price = transaction.price
    currency = transaction.currency
    subscriptionGroup = transaction.subscriptionGroupIdentifier
    ownership = transaction.inAppOwnershipType
    appAccountToken = transaction.appAccountToken
    appTransactionId = transaction.appTransactionId
    commitment = Commitment(transaction)
    self.signedDate = signedDate
  }

  /// Whether `other`, which has the same transaction id, has precedence. With the same signature time, a revoked or
  /// upgraded transaction wins. If all dates are the same, the packed bytes decide.
  func isOlder(than other: Period) -> Bool {
    func rank(_ period: Period) -> (Timestamp, Int64, Int, Int64) {
      (
        period.signedDate, period.revocationDate?.millisecondsSince1970 ?? 0, period.isUpgraded ? 1 : 0,
        period.expiresDate?.millisecondsSince1970 ?? 0
      )
    }
    let ranks = (rank(self), rank(other))
    return ranks.0 == ranks.1 ? contents.lexicographicallyPrecedes(other.contents) : ranks.0 < ranks.1
  }

  /// The packed bytes of what Apple signed.
  private var contents: [UInt8] {
    var (writer, signed) = (PackedWriter(), self)
    (signed.lastRevoked, signed.lastReversed) = (nil, nil)
    for (field, value) in signed.packedFields.sorted(by: { $0.key < $1.key }) { writer.put(field, value) }
    return writer.bytes
  }

  /// Returns the version that has precedence, with what both say about revocations. The order of the two does not matter.
  func merged(with other: Period) -> Period {
    var (newer, older) = isOlder(than: other) ? (other, self) : (self, other)
    newer.lastReversed = [lastReversed, other.lastReversed].compactMap(\.self).max()
    let revocations = [older.lastRevoked, newer.lastRevoked, older.revocationDate == nil ? nil : older.signedDate]
    newer.lastRevoked = newer.revocationDate == nil ? revocations.compactMap(\.self).max() : nil
    return newer
  }

  /// When Apple signed a revocation that a newer version lacks without a reversal; nil if there is none.
  var missingRevocation: Timestamp? {
    guard let lastRevoked, lastReversed.map({ $0 < lastRevoked }) ?? true else { return nil }
    return lastRevoked
  }

  /// Whether the period was under way at a time: not replaced, not revoked and not over. A period without an end is.
  func isRunning(at time: Timestamp) -> Bool {
    !isUpgraded && revocationDate == nil && expiresDate.map { $0 > time } ?? true
  }

  /// Whether the period begins after `other`.
  func isLater(than other: Period) -> Bool {
    (purchaseDate, transactionId) > (other.purchaseDate, other.transactionId)
  }
}

/// An offer that the customer redeemed, or that applies to the next renewal.
struct Offer: Sendable, Hashable {
  var type: OfferType
  /// The identifier of a promotional or win-back offer or of an offer code.
  var identifier: String?
  var discountType: OfferDiscountType?

  init(type: OfferType, identifier: String?, discountType: OfferDiscountType?) {
    (self.type, self.identifier, self.discountType) = (type, identifier, discountType)
  }

  init?(_ transaction: JWSTransactionDecodedPayload) {
    guard let type = transaction.offerType else { return nil }
    self.type = type
    identifier = transaction.offerIdentifier
    discountType = transaction.offerDiscountType
  }

  init?(_ renewal: JWSRenewalInfoDecodedPayload) {
    guard let type = renewal.offerType else { return nil }
    self.type = type
    identifier = renewal.offerIdentifier
    discountType = renewal.offerDiscountType
  }

  /// Whether the customer chose the offer. Apple gives an introductory offer to every new subscriber.
  var isChosen: Bool { type != .introductoryOffer }
}
