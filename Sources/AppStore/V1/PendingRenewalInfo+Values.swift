// What the text of a version 1 renewal means.

extension PendingRenewalInfo {
  /// Whether it will renew, from `auto_renew_status`.
  public var autoRenewStatus: AutoRenewStatus? { AutoRenewStatus(text: auto_renew_status) }

  /// Why the subscription expired, from `expiration_intent`.
  public var expirationIntent: ExpirationIntent? { ExpirationIntent(text: expiration_intent) }

  /// When the billing grace period ends, from `grace_period_expires_date_ms`.
  public var gracePeriodExpiresDate: Timestamp? { moment(grace_period_expires_date_ms) }

  /// Whether the App Store tries to renew an expired subscription, from `is_in_billing_retry_period`.
  public var isInBillingRetryPeriod: Bool? { flag(is_in_billing_retry_period) }

  /// What the customer said to a price increase, from `price_consent_status`, else from `price_increase_status`.
  public var priceIncreaseStatus: PriceIncreaseStatus? {
    PriceIncreaseStatus(text: price_consent_status) ?? PriceIncreaseStatus(text: price_increase_status)
  }
}
