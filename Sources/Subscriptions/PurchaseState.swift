// The state of a purchase that does not renew: a consumable, a non-consumable or a non-renewing subscription.

internal import AppStore

/// One transaction of a product that does not renew. The transaction that Apple signed last has precedence.
struct PurchaseState: Sendable, Hashable {
  private(set) var period: Period?
  private(set) var productType: ProductType?

  init() {}

  /// Takes a transaction and returns the event of the change, if any.
  mutating func take(_ transaction: JWSTransactionDecodedPayload) -> PurchaseEvent? {
    guard let new = Period(transaction), period.map({ $0.isOlder(than: new) }) ?? true else { return nil }
    let before = period
    period = new
    productType = transaction.type
    switch (before, new.revocationDate) {
    case (nil, nil): return .completed
    case (nil, _?): return .revoked
    case (let before?, nil): return before.revocationDate == nil ? nil : .reinstated
    case (let before?, _?): return before.revocationDate == nil ? .revoked : nil
    }
  }

  /// Whether the customer owns the product. A consumable is used by the app, and a non-renewing subscription has no end
  /// that Apple knows.
  var isOwned: Bool { period.map { $0.revocationDate == nil } ?? false }
}

/// The name of an event about a purchase, the last part of its `ce_type`.
enum PurchaseEvent: String, Sendable, Hashable, CaseIterable {
  case completed, revoked, reinstated
}
