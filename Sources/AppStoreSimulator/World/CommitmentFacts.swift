// A commitment: several billing periods that the customer agreed to at once, such as twelve months that are billed each
// month (App Store Server API 1.21).

package import AppStore

/// The commitment that a billing period belongs to.
package struct CommitmentFacts: Sendable, Hashable {
  /// The number of the billing period, from 1.
  package internal(set) var number: Int64
  /// The number of billing periods.
  package let total: Int64
  /// The time at which the commitment ends.
  package internal(set) var ends: Timestamp
  /// The price of each billing period, in milliunits of the currency. It stays the same until the commitment ends.
  package let billingPrice: Int64

  /// Whether the commitment ends with this billing period.
  package var isLast: Bool { number >= total }
  /// The price of the whole commitment, in milliunits of the currency.
  package var price: Int64 { billingPrice * total }
}

extension SubscriptionFacts {
  /// Whether the commitment has another billing period after the current one.
  package var isCommitted: Bool { commitment.map { !$0.isLast } ?? false }
  /// Whether the App Store bills another period (`autoRenewStatus`). Within a commitment it does, even if the customer
  /// has turned off the renewal of the commitment.
  package var bills: Bool { renews || isCommitted }
  /// The product of the next billing period, as its index in the app's products.
  package var billedProduct: Int { isCommitted ? product : nextProduct }
  /// The offer of the next billing period, as its index in the offers of its product.
  package var billedOffer: Int? { isCommitted ? nil : nextOffer }
  /// The price of the next billing period, in milliunits of the currency.
  package var billedPrice: Int64 { commitment.flatMap { $0.isLast ? nil : $0.billingPrice } ?? renewalPrice }

  /// Returns the commitment of a period that follows the current one: the same commitment while it lasts, otherwise a
  /// new one. Returns nil if the product has none. An offer and a family member's access are without commitment.
  func commitment(
    of product: Product, offer: Int?, reason: TransactionReason, price: Int64, from start: Timestamp
  ) -> CommitmentFacts? {
    if reason == .renewal, isCommitted, var present = commitment {
      present.number += 1
      // A recovery after the end of a period begins a period later, and the commitment ends later.
      present.ends = present.ends + max(.zero, start - expires)
      return present
    }
    guard let total = product.commitment, offer == nil, ownership == .purchased else { return nil }
    let length = SubscriptionPeriod(product.period.count * total, product.period.unit)
    return CommitmentFacts(number: 1, total: total, ends: length.end(from: start), billingPrice: price)
  }
}
