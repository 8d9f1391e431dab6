// Subscription statuses as the command line names them.

package import AppStore

/// The values of `--status`.
package enum SubscriptionStatusName: String, Sendable, Hashable, CaseIterable {
  /// The subscription is active.
  case active
  /// The subscription expired.
  case expired
  /// The subscription expired, and the App Store retries the payment.
  case billingRetry = "billing-retry"
  /// The App Store retries the payment while the customer keeps access.
  case gracePeriod = "grace-period"
  /// The subscription was refunded, or is no longer shared by the family.
  case revoked

  /// Apple's value for the status.
  package var status: Status {
    switch self {
    case .active: .active
    case .expired: .expired
    case .billingRetry: .billingRetry
    case .gracePeriod: .billingGracePeriod
    case .revoked: .revoked
    }
  }
}
