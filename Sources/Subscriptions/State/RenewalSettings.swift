// What Apple intends to do at the end of the current period.

internal import AppStore

/// The renewal settings of a subscription, from its signed renewal info.
struct RenewalSettings: Sendable, Hashable {
  var autoRenewStatus: AutoRenewStatus?
  /// The product of the next period.
  var productId: String?
  /// The product of the current period. A report about an earlier period names the current product here only.
  var currentProductId: String?
  var gracePeriodExpiresDate: Timestamp?
  /// When the present period ends. A report about an earlier period names that end here only.
  var renewalDate: Timestamp?
  var isInBillingRetry: Bool?
  var expirationIntent: ExpirationIntent?
  var priceIncrease: PriceIncreaseStatus?
  /// The offer that applies to the next period.
  var offer: Offer?
  /// The price of the next period, in thousandths of the currency.
  var price: Int64?
  var currency: String?
  /// The commitment after the present one.
  var nextCommitment: NextCommitment?
  /// When Apple signed the renewal info.
  var signedDate: Timestamp

  /// Reads a renewal info.
  /// - Parameter signedBy: The signature time if the renewal info has none of its own.
  init(_ renewal: JWSRenewalInfoDecodedPayload, signedBy time: Timestamp) {
    autoRenewStatus = renewal.autoRenewStatus
    productId = renewal.autoRenewProductId
    currentProductId = renewal.productId
    gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
    renewalDate = renewal.renewalDate
    isInBillingRetry = renewal.isInBillingRetryPeriod
    expirationIntent = renewal.expirationIntent
    priceIncrease = renewal.priceIncreaseStatus
    offer = Offer(renewal)
    price = renewal.renewalPrice
    currency = renewal.currency
    nextCommitment = NextCommitment(renewal)
    signedDate = renewal.signedDate ?? time
  }

  /// The end of the grace period that follows a period; nil if the date is absent or belongs to an earlier period.
  func graceEnd(after expires: Timestamp?) -> Timestamp? {
    gracePeriodExpiresDate.flatMap { grace in expires.map { grace > $0 } ?? true ? grace : nil }
  }

  /// Whether `other` has precedence. If all dates and the settings are the same, the packed bytes decide.
  func isOlder(than other: RenewalSettings) -> Bool {
    func rank(_ settings: RenewalSettings) -> (Timestamp, Int64, Int, String) {
      (
        settings.signedDate, settings.gracePeriodExpiresDate?.millisecondsSince1970 ?? 0,
        settings.autoRenewStatus?.rawValue ?? -1, settings.productId ?? ""
      )
    }
    let ranks = (rank(self), rank(other))
    return ranks.0 == ranks.1 ? packed().lexicographicallyPrecedes(other.packed()) : ranks.0 < ranks.1
  }
}
