// Facts about a subscription that consumers derive from its row.

import AppStore

@testable import Subscriptions

extension Subscription {
  /// Whether the customer may use the product. The margin allows for a renewal that is reported late.
  func isEntitled(at now: Timestamp, margin: Duration) -> Bool {
    guard status == .active || status == .gracePeriod else { return false }
    return end.map { now < $0 + margin } ?? true
  }

  /// Whether Apple will renew the subscription.
  var renews: Bool { renewal?.autoRenewStatus == .on }
}
