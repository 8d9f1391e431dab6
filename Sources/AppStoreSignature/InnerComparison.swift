// Holding inner tokens against the notification around them. A decision on values: no certificates, no clock.
import AppStore

/// Collects what inner tokens state otherwise. A field that either side lacks is no difference: early 2022 tokens name
/// no environment, and renewal info names no bundle.
struct InnerComparison {
  let bundleId: String?
  let appAppleId: Int64?
  let environment: AppStoreEnvironment?
  private(set) var mismatches: [InnerMismatch] = []

  init(against notification: ResponseBodyV2DecodedPayload) {
    bundleId = notification.bundleId
    appAppleId = notification.appAppleId
    environment = notification.environment
  }

  mutating func compare(_ transaction: JWSTransactionDecodedPayload) {
    compare(.transaction, "bundleId", bundleId, transaction.bundleId)
    compare(.transaction, "environment", environment, transaction.environment)
  }

  /// - Parameter transaction: the transaction beside it, which must be of the same subscription.
  mutating func compare(_ renewalInfo: JWSRenewalInfoDecodedPayload, beside transaction: JWSTransactionDecodedPayload?)
  {
    compare(.renewalInfo, "environment", environment, renewalInfo.environment)
    compare(
      .renewalInfo, "originalTransactionId", transaction?.originalTransactionId, renewalInfo.originalTransactionId)
  }

  /// The app id counts in Production only: elsewhere Apple leaves it out or writes 0.
  mutating func compare(_ appTransaction: AppTransaction) {
    compare(.appTransaction, "bundleId", bundleId, appTransaction.bundleId)
    compare(.appTransaction, "receiptType", environment, appTransaction.receiptType)
    if environment == .production {
      compare(.appTransaction, "appAppleId", appAppleId, appTransaction.appAppleId)
    }
  }

  private mutating func compare<Value: Equatable & CustomStringConvertible>(
    _ token: InnerToken, _ field: String, _ expected: Value?, _ found: Value?
  ) {
    guard let expected, let found, expected != found else { return }
    mismatches.append(
      InnerMismatch(token: token, field: field, expected: expected.description, found: found.description))
  }
}
