import AppStore
import Testing

@testable import Refunds

@Suite struct RevocationTests {
  private static let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private static func transaction(_ change: (inout JWSTransactionDecodedPayload) -> Void)
    -> JWSTransactionDecodedPayload
  {
    var transaction = JWSTransactionDecodedPayload()
    transaction.revocationDate = date
    change(&transaction)
    return transaction
  }

  @Test(
    arguments: [
      (transaction { $0.revocationType = .refundFull }, .full),
      (transaction { $0.revocationType = .refundProrated }, .prorated),
      (transaction { $0.revocationType = .familyRevoke }, .family),
      (transaction { $0.revocationType = RevocationType(rawValue: "REFUND_NEW") }, .unknown),
      // Before Apple introduced the field.
      (transaction { _ in }, .full),
      (transaction { $0.inAppOwnershipType = .familyShared }, .family),
      (transaction { $0.revocationPercentage = 67_932 }, .prorated),
      (transaction { $0.revocationPercentage = 100_000 }, .full),
    ] as [(JWSTransactionDecodedPayload, Revocation.Kind)])
  func `the kind of a revocation is read from Apple's fields`(
    transaction: JWSTransactionDecodedPayload, kind: Revocation.Kind
  ) {
    #expect(Revocation(transaction)?.kind == kind)
    #expect(Revocation(transaction)?.date == Self.date)
  }

  @Test func `percentage and reason are copied from Apple`() {
    let revocation = Revocation(
      Self.transaction {
        $0.revocationType = .refundProrated
        $0.revocationPercentage = 15
        $0.revocationReason = RevocationReason(rawValue: 1)
      })
    #expect(revocation?.percentage == 15 && revocation?.reason == 1)
  }

  @Test func `a transaction without a revocation date is not revoked`() {
    #expect(Revocation(JWSTransactionDecodedPayload()) == nil)
  }
}
