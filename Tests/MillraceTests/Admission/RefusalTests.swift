import AppStoreSignature
import Testing

@testable import Millrace

@Suite struct RefusalTests {
  private static let table: [(VerificationError, Refusal.Reason, Refusal.Consequence, isKept: Bool)] = [
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

  @Test(arguments: table) func `each class of disbelief has its consequence`(
    error: VerificationError, reason: Refusal.Reason, consequence: Refusal.Consequence, isKept: Bool
  ) {
    let refusal = Refusal(error, unverifiable: .retry)
    #expect(refusal.reason == reason)
    #expect(refusal.consequence == consequence)
    #expect(refusal.isWorthKeeping == isKept)
  }

  @Test func `every class stands in the table`() {
    #expect(Set(Self.table.map(\.0.reason)) == Set(VerificationError.Reason.allCases))
  }

  @Test(arguments: table) func `an operator who refuses the unverifiable is asked for no retry of it`(
    error: VerificationError, reason: Refusal.Reason, consequence: Refusal.Consequence, isKept: Bool
  ) {
    let refusal = Refusal(error, unverifiable: .refuse)
    #expect(refusal.consequence == (isKept ? .unauthorized : consequence))
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
    ] as [(InnerVerdict, Refusal.Reason?, Refusal.Consequence?)])
  func `a genuine outside with anything but verified inside is refused and kept`(
    inner: InnerVerdict, reason: Refusal.Reason?, consequence: Refusal.Consequence?
  ) {
    let refusal = Refusal(inner, unverifiable: .retry)
    #expect(refusal?.reason == reason)
    #expect(refusal?.consequence == consequence)
    #expect(refusal.map(\.isWorthKeeping) ?? true)
  }

  @Test func `bytes are kept only where they are worth it`() {
    #expect(Refusal(.signature, .unauthorized, "").keeping([1]).evidence == nil)
    let kept = Refusal(.appNotConfigured, .retryLater, "", isWorthKeeping: true).keeping([1], secretOf: ["one"])
    #expect(kept.evidence == [1])
    #expect(kept.secretOf == ["one"])
  }
}
