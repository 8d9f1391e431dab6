// The states of a subscription as the command line names them.

public import AppStore

/// What `--status` takes.
public enum SubscriptionStatusName: String, Sendable, Hashable, CaseIterable {
  /// Gives service.
  case active
  /// Does not.
  case expired
  /// Does not, while the App Store tries to bill.
  case billingRetry = "billing-retry"
  /// Does, while the App Store tries to bill.
  case gracePeriod = "grace-period"
  /// Refunded, or no longer shared.
  case revoked

  /// The state as Apple numbers it.
  public var status: Status {
    switch self {
    case .active: .active
    case .expired: .expired
    case .billingRetry: .billingRetry
    case .gracePeriod: .billingGracePeriod
    case .revoked: .revoked
    }
  }
}
