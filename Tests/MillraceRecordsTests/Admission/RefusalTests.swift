import AppStoreSignature
import Testing

@testable import MillraceRecords
@testable import MillraceCore

@Suite struct RefusalTests {
  private static let table: [(VerificationError, Refusal.Reason, Refusal.Response, isKept: Bool)] = [
    (VerificationError(.format, ""), .malformed, .malformed, false),
    (VerificationError(.certificate, ""), .malformed, .malformed, false),
    (VerificationError(.algorithm, ""), .algorithm, .unauthorized, false),
    (VerificationError(.signature, ""), .signature, .unauthorized, false),
    (VerificationError(.chainLength, ""), .chain, .unauthorized, false),
    (VerificationError(.chain, ""), .chain, .unauthorized, false),
    (VerificationError(.chainLength, "", isOnlyChainFault: true), .chain, .retryLater, true),
    (VerificationError(.chain, "", isOnlyChainFault: true), .chain, .retryLater, true),
    (VerificationError(.revoked, ""), .revoked, .unauthorized, false),
    (VerificationError(.temporary, ""), .revocationUnknown, .retryLater, false),
    (VerificationError(.appIdentifier, ""), .appNotConfigured, .retryLater, true),
    (VerificationError(.environment, ""), .environmentNotConfigured, .retryLater, true),
    (VerificationError(.configuration, ""), .chain, .retryLater, false),
  ]

  @Test(arguments: table) func `each verification error has its consequence`(
    error: VerificationError, reason: Refusal.Reason, response: Refusal.Response, isKept: Bool
  ) {
    let refusal = Refusal(error, unverifiable: .retry)
    #expect(refusal.reason == reason)
    #expect(refusal.response == response)
    #expect(refusal.isWorthKeeping == isKept)
  }

  @Test func `the table has every verification error`() {
    #expect(Set(Self.table.map(\.0.reason)) == Set(VerificationError.Reason.allCases))
  }

  @Test(arguments: table) func `with unverifiable set to refuse, unverifiable bodies are not retried`(
    error: VerificationError, reason: Refusal.Reason, response: Refusal.Response, isKept: Bool
  ) {
    let refusal = Refusal(error, unverifiable: .refuse)
    #expect(refusal.response == (isKept ? .unauthorized : response))
    #expect(refusal.isWorthKeeping == isKept)
  }

  @Test(
    arguments: [
      (InnerVerdict.verified, nil, nil),
      (
        .mismatch([InnerMismatch(token: .transaction, field: "bundleId", expected: "a", found: "b")]),
        .innerMismatch, .unauthorized
      ),
      (
        .forged(InnerForgery(token: .transaction, error: VerificationError(.signature, ""))), .innerForged,
        .unauthorized
      ),
      (
        .forged(InnerForgery(token: .renewalInfo, error: VerificationError(.chain, "", isOnlyChainFault: true))),
        .innerChain, .retryLater
      ),
    ] as [(InnerVerdict, Refusal.Reason?, Refusal.Response?)])
  func `a genuine outer token with an unverified inner token is refused and kept`(
    inner: InnerVerdict, reason: Refusal.Reason?, response: Refusal.Response?
  ) {
    let refusal = Refusal(inner, unverifiable: .retry)
    #expect(refusal?.reason == reason)
    #expect(refusal?.response == response)
    #expect(refusal.map(\.isWorthKeeping) ?? true)
  }

  @Test func `only refusals that are worth keeping have evidence`() {
    #expect(Refusal(.signature, .unauthorized, "").keeping([1]).evidence == nil)
    let kept = Refusal(.appNotConfigured, .retryLater, "", isWorthKeeping: true).keeping([1], secretOf: ["one"])
    #expect(kept.evidence == [1])
    #expect(kept.secretOf == ["one"])
  }
}
