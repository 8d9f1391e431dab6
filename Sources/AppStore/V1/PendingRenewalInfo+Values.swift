// The typed values of a version 1 renewal.

extension PendingRenewalInfo {
  /// Whether it will renew, from `auto_renew_status`.
  public var autoRenewStatus: AutoRenewStatus? { AutoRenewStatus(text: auto_renew_status) }

  /// The reason the subscription expired, from `expiration_intent`.
  public var expirationIntent: ExpirationIntent? { ExpirationIntent(text: expiration_intent) }

  /// The time at which the billing grace period ends, from `grace_period_expires_date_ms`.
  public var gracePeriodExpiresDate: Timestamp? { moment(grace_period_expires_date_ms) }

  /// Whether the App Store is trying to renew an expired subscription, from `is_in_billing_retry_period`.
  public var isInBillingRetryPeriod: Bool? { flag(is_in_billing_retry_period) }

  /// The customer's response to a price increase, from `price_consent_status`, otherwise from `price_increase_status`.
  public var priceIncreaseStatus: PriceIncreaseStatus? {
    PriceIncreaseStatus(text: price_consent_status) ?? PriceIncreaseStatus(text: price_increase_status)
  }
}
