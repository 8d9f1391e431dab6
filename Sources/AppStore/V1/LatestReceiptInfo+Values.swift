// The typed values of a version 1 transaction.

extension LatestReceiptInfo {
  /// The time at which the customer was charged, from `purchase_date_ms`.
  public var purchaseDate: Timestamp? { moment(purchase_date_ms) }

  /// The time of the original transaction, from `original_purchase_date_ms`. It can be later than ``purchaseDate``.
  public var originalPurchaseDate: Timestamp? { moment(original_purchase_date_ms) }

  /// The time at which the subscription expires or renews, from `expires_date_ms`; in old rows from `expires_date`.
  public var expiresDate: Timestamp? { moment(expires_date_ms) ?? moment(expires_date) }

  /// The time at which it was refunded or no longer shared, from `cancellation_date_ms`; nil if it was not.
  public var cancellationDate: Timestamp? { moment(cancellation_date_ms) }

  /// The reason it was refunded, from `cancellation_reason`.
  public var cancellationReason: RevocationReason? { RevocationReason(text: cancellation_reason) }

  /// Whether it is in the introductory price period, from `is_in_intro_offer_period`.
  public var isInIntroOfferPeriod: Bool? { flag(is_in_intro_offer_period) }

  /// Whether it is in the free trial, from `is_trial_period`.
  public var isTrialPeriod: Bool? { flag(is_trial_period) }

  /// Whether the customer upgraded to a higher plan, from `is_upgraded`; nil if absent, which means no.
  public var isUpgraded: Bool? { flag(is_upgraded) }
}
