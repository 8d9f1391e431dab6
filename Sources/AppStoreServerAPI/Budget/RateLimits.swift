// Apple's limits, from its page and, where it names none, from caution.

public import AppStore

/// How many requests a second Apple takes, per app and endpoint (App Store Server API, *Identifying rate limits*).
public struct RateLimits: Sendable, Hashable {
  /// Requests a second in production. An endpoint without an entry is not called at all.
  public var productionPerSecond: [APIEndpoint: Double]
  /// What the sandbox allows of that.
  public var sandboxFactor: Double
  /// What every limit is divided by: above 1 in a rehearsal whose clock runs faster than its machine can call.
  public var divisor: Double

  /// These limits.
  public init(productionPerSecond: [APIEndpoint: Double], sandboxFactor: Double = 0.1, divisor: Double = 1) {
    self.productionPerSecond = productionPerSecond
    self.sandboxFactor = sandboxFactor
    self.divisor = divisor
  }

  /// The limit of an endpoint in requests a second; 0 when there is none.
  public func perSecond(_ endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Double {
    let limit = (productionPerSecond[endpoint] ?? 0) / divisor
    return environment == .production ? limit : limit * sandboxFactor
  }

  /// What Apple documents. Two endpoints are not in its table: the status of a mass extension gets the limit of the
  /// endpoints around it, 1; finishing a transaction that of the slowest endpoint about one transaction, 10.
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
  /// Apple's documented limits, divided: what a rehearsal in faster time keeps to.
  public static func divided(by divisor: Double) -> RateLimits {
    var limits = documented
    limits.divisor = divisor
    return limits
  }
}
