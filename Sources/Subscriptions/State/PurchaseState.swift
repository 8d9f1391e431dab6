// The state of a purchase that does not renew: a non-consumable, a non-renewing subscription, or a consumable that was
// refunded.

internal import AppStore

/// One transaction of a product that does not renew. The transaction that Apple signed last has precedence.
struct PurchaseState: Sendable, Hashable {
  private(set) var period: Period?
  /// Whether a notification has reported the purchase itself.
  private(set) var isReported: Bool

  init(_ period: Period? = nil, isReported: Bool = false) { (self.period, self.isReported) = (period, isReported) }

  /// Applies a transaction. The state does not depend on the order of transactions.
  /// - Parameter type: The type of the notification; nil for an answer of Apple.
  /// - Returns: Nil if nothing changes. Otherwise the event of the change, if any.
  mutating func apply(_ new: Period, _ type: NotificationTypeV2?) -> PurchaseChange? {
    let before = self
    let isNewer = period.map { $0.isOlder(than: new) } ?? true
    if isNewer { period = new }
    let isPurchase = type == .oneTimeCharge
    isReported = isReported || isPurchase
    guard self != before else { return nil }
    let isRevoked = period?.revocationDate != nil
    // A purchase that is reported late is news unless it was refunded meanwhile.
    let late: PurchaseEvent? = isPurchase && !before.isReported && !isRevoked ? .completed : nil
    guard isNewer else { return PurchaseChange(event: late, isCurrent: false) }
    let event: PurchaseEvent? =
      switch before.period.map({ $0.revocationDate != nil }) {
      case nil: isRevoked ? .revoked : type == .refundReversed ? .reinstated : late
      case isRevoked?: late
      case _?: isRevoked ? .revoked : .reinstated
      }
    return PurchaseChange(event: event, isCurrent: true)
  }
}

/// A change of a purchase.
struct PurchaseChange: Sendable, Hashable {
  var event: PurchaseEvent?
  /// Whether the transaction is the newest one, so that the row follows it.
  var isCurrent: Bool
}

/// The name of an event about a purchase without ``prefix``.
enum PurchaseEvent: String, Sendable, Hashable, CaseIterable {
  case completed, revoked, reinstated

  static let prefix = "purchase."
}

extension PurchaseState {
  /// The compact form.
  var packed: [UInt8] {
    var writer = PackedWriter()
    for (field, value) in (period?.packedFields ?? [:]).sorted(by: { $0.key < $1.key }) { writer.put(field, value) }
    if isReported { writer.put(Self.reported, .number(1)) }
    return writer.bytes
  }

  /// Reads the compact form.
  /// - Throws: ``PackedError`` if the bytes are damaged.
  init(packed bytes: [UInt8]) throws(PackedError) {
    let reader = try PackedReader(bytes)
    self.init(try Period(reader), isReported: reader.number(Self.reported) == 1)
  }

  private static let reported = 32
}

extension Period {
  /// The part that decides about a consumable. Its refunds are remembered, and most of its details are not needed.
  var essence: Period {
    var essence = self
    (essence.productId, essence.price, essence.currency, essence.offer) = (nil, nil, nil, nil)
    (essence.ownership, essence.appAccountToken, essence.appTransactionId) = (nil, nil, nil)
    (essence.expiresDate, essence.originalPurchaseDate, essence.subscriptionGroup) = (nil, nil, nil)
    essence.commitment = nil
    return essence
  }
}
