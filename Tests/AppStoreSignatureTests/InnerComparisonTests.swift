// Compares inner tokens with their notification, without cryptography.
import AppStore
@testable import AppStoreSignature
import Testing

@Suite("Inner comparison")
struct InnerComparisonTests {
  private var notification: ResponseBodyV2DecodedPayload {
    var data = NotificationData()
    data.bundleId = "com.a"
    data.appAppleId = 1
    data.environment = .production
    var payload = ResponseBodyV2DecodedPayload()
    payload.data = data
    return payload
  }

  private var transaction: JWSTransactionDecodedPayload {
    var transaction = JWSTransactionDecodedPayload()
    transaction.bundleId = "com.a"
    transaction.environment = .production
    transaction.originalTransactionId = "100"
    return transaction
  }

  private func mismatches(_ body: (inout InnerComparison) -> Void) -> [String] {
    var comparison = InnerComparison(against: notification)
    body(&comparison)
    return comparison.mismatches.map(\.field)
  }

  @Test("a transaction of the same app and environment agrees")
  func agreement() {
    #expect(mismatches { $0.compare(transaction) } == [])
  }

  @Test("each differing field of a transaction is reported")
  func transactionFields() {
    var other = transaction
    other.bundleId = "com.b"
    #expect(mismatches { $0.compare(other) } == ["bundleId"])
    other.environment = .sandbox
    #expect(mismatches { $0.compare(other) } == ["bundleId", "environment"])
  }

  @Test("a missing field is not a mismatch: tokens of early 2022 have no environment")
  func absentFields() {
    #expect(mismatches { $0.compare(JWSTransactionDecodedPayload()) } == [])
    #expect(mismatches { $0.compare(JWSRenewalInfoDecodedPayload(), beside: transaction) } == [])
    #expect(mismatches { $0.compare(AppTransaction()) } == [])
    var comparison = InnerComparison(against: ResponseBodyV2DecodedPayload())
    comparison.compare(transaction)
    #expect(comparison.mismatches == [])
  }

  @Test("renewal info of a subscription other than the transaction's is a mismatch")
  func renewalInfo() {
    var renewalInfo = JWSRenewalInfoDecodedPayload()
    renewalInfo.originalTransactionId = "200"
    renewalInfo.environment = .production
    #expect(mismatches { $0.compare(renewalInfo, beside: transaction) } == ["originalTransactionId"])
    #expect(mismatches { $0.compare(renewalInfo, beside: nil) } == [])
    // After a refund of an old purchase the products differ (observed), so they are not compared.
    renewalInfo.originalTransactionId = "100"
    renewalInfo.productId = "another"
    #expect(mismatches { $0.compare(renewalInfo, beside: transaction) } == [])
  }

  @Test("an app transaction is compared by bundle, environment and, in Production, app id")
  func appTransaction() {
    var appTransaction = AppTransaction()
    appTransaction.bundleId = "com.b"
    appTransaction.receiptType = .sandbox
    appTransaction.appAppleId = 2
    #expect(mismatches { $0.compare(appTransaction) } == ["bundleId", "receiptType", "appAppleId"])
  }
}
