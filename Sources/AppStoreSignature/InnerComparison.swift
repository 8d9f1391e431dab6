// Compares inner tokens with the notification around them, as a value without certificates or a clock.
import AppStore

/// Collects the fields in which inner tokens differ from the notification. A field that is missing on either side is
/// not a difference: tokens of early 2022 have no environment, and renewal info has no bundle.
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

  /// - Parameter transaction: the transaction next to the renewal info, which must belong to the same subscription.
  mutating func compare(_ renewalInfo: JWSRenewalInfoDecodedPayload, beside transaction: JWSTransactionDecodedPayload?)
  {
    compare(.renewalInfo, "environment", environment, renewalInfo.environment)
    compare(
      .renewalInfo, "originalTransactionId", transaction?.originalTransactionId, renewalInfo.originalTransactionId)
  }

  /// Compares the app ID in Production only. In other environments, Apple omits it or writes 0.
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
