// The state of a purchase that does not renew and that a customer keeps: a non-consumable or a non-renewing
// subscription.

internal import AppStore

/// One transaction of a product that does not renew. The transaction that Apple signed last has precedence.
struct PurchaseState: Sendable, Hashable {
  private(set) var period: Period?

  init(_ period: Period? = nil) { self.period = period }

  /// Takes a transaction.
  /// - Returns: Nil if it is older than the one before. Otherwise the event of the change, if any.
  mutating func take(_ transaction: JWSTransactionDecodedPayload) -> PurchaseChange? {
    guard let new = Period(transaction), period.map({ $0.isOlder(than: new) }) ?? true else { return nil }
    let wasRevoked = period.map { $0.revocationDate != nil }
    period = new
    let isRevoked = new.revocationDate != nil
    switch wasRevoked {
    case nil: return PurchaseChange(event: isRevoked ? .revoked : .completed)
    case isRevoked?: return PurchaseChange(event: nil)
    case _?: return PurchaseChange(event: isRevoked ? .revoked : .reinstated)
    }
  }
}

/// A change of a purchase.
struct PurchaseChange: Sendable, Hashable {
  var event: PurchaseEvent?
}

/// The name of an event about a purchase without ``prefix``.
enum PurchaseEvent: String, Sendable, Hashable, CaseIterable {
  case completed, revoked, reinstated

  static let prefix = "purchase."

  /// The event of a consumable. The worker keeps no state of it, because the app uses it up.
  init?(consumable transaction: JWSTransactionDecodedPayload, type: NotificationTypeV2?) {
    switch (transaction.revocationDate, type) {
    case (_?, _): self = .revoked
    case (nil, .refundReversed?): self = .reinstated
    case (nil, .oneTimeCharge?): self = .completed
    case (nil, _): return nil
    }
  }
}

extension PurchaseState {
  /// The compact form.
  var packed: [UInt8] {
    var writer = PackedWriter()
    for (field, value) in (period?.packedFields ?? [:]).sorted(by: { $0.key < $1.key }) { writer.put(field, value) }
    return writer.bytes
  }

  /// Reads the compact form.
  /// - Throws: ``PackedError`` if the bytes are damaged.
  init(packed bytes: [UInt8]) throws(PackedError) { self.init(try Period(PackedReader(bytes))) }
}
