// Apple's documented limits, and cautious values for the endpoints without one.

public import AppStore

/// Apple's limits in requests per second, for each app and endpoint (App Store Server API, *Identifying rate limits*).
public struct RateLimits: Sendable, Hashable {
  /// The production limits in requests per second. An endpoint without an entry is never called.
  public var productionPerSecond: [APIEndpoint: Double]
  /// The sandbox's share of the production limits.
  public var sandboxFactor: Double
  /// Divides every limit. It is above 1 in a rehearsal whose clock is too fast for the machine to call at Apple's
  /// limits.
  public var divisor: Double

  /// Creates limits.
  public init(productionPerSecond: [APIEndpoint: Double], sandboxFactor: Double = 0.1, divisor: Double = 1) {
    self.productionPerSecond = productionPerSecond
    self.sandboxFactor = sandboxFactor
    self.divisor = divisor
  }

  /// The limit of an endpoint in requests per second; 0 if it has none.
  public func perSecond(_ endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Double {
    let limit = (productionPerSecond[endpoint] ?? 0) / divisor
    return environment == .production ? limit : limit * sandboxFactor
  }

  /// Apple's documented limits. Two endpoints are not in Apple's table. The status of a mass extension has the limit of
  /// the related endpoints, 1. Finish Transaction has the limit of the slowest endpoint for a single transaction, 10.
  public static let documented = RateLimits(productionPerSecond: [
    .getAppTransactionInfo: 50,
    .getTransactionInfo: 50,
    .getTransactionHistory: 50,
    .getTransactionHistoryV1: 50,
    .getAllSubscriptionStatuses: 50,
    .sendConsumptionInformation: 50,
    .sendConsumptionInformationV1: 50,
    .getNotificationHistory: 50,
    .extendSubscriptionRenewalDate: 20,
    .setAppAccountToken: 20,
    .lookUpOrderId: 10,
    .getRefundHistory: 10,
    .getRefundHistoryV1: 10,
    .massExtendRenewalDate: 1,
    .requestTestNotification: 1,
    .getTestNotificationStatus: 1,
    .getMassExtendStatus: 1,
    .finishTransaction: 10,
  ])
}

extension RateLimits {
  /// Apple's documented limits divided by `divisor`, for a rehearsal with a faster clock.
  public static func divided(by divisor: Double) -> RateLimits {
    var limits = documented
    limits.divisor = divisor
    return limits
  }
}
