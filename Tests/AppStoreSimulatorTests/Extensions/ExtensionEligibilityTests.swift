import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct ExtensionEligibilityTests {
  private static let now = Timestamp.newYear
  private static let day = Duration.seconds(86_400)
  private static let eligible = ExtensionFacts(
    status: .active, ownership: .purchased, isInFreeOffer: false, hasPaidPeriod: true, expires: now + day,
    extensions: [])

  static let cases: [(what: String, change: @Sendable (inout ExtensionFacts) -> Void, refusal: APIFailure?)] = [
    ("active and paid", { _ in }, nil),
    ("family-shared", { $0.ownership = .familyShared }, .familySharedSubscriptionExtensionIneligible),
    ("free offer", { $0.isInFreeOffer = true }, .subscriptionExtensionIneligible),
    ("never paid", { $0.hasPaidPeriod = false }, .subscriptionExtensionIneligible),
    ("billing retry", { $0.status = .billingRetry }, .subscriptionExtensionIneligible),
    ("expired", { $0.status = .expired }, .subscriptionExtensionIneligible),
    ("revoked", { $0.status = .revoked }, .subscriptionExtensionIneligible),
    ("active by name, past its end", { $0.expires = now }, .subscriptionExtensionIneligible),
    ("grace before its end", { $0.status = .billingGracePeriod }, nil),
    (
      "grace past its end",
      {
        $0.status = .billingGracePeriod
        $0.expires = now - day
      }, .subscriptionExtensionIneligible
    ),
    ("one extension", { $0.extensions = [now - day] }, nil),
    ("two extensions in a year", { $0.extensions = [now - day * 364, now - day] }, .subscriptionMaxExtension),
    ("two, one a year ago", { $0.extensions = [now - day * 365, now - day] }, nil),
    ("three, two in a year", { $0.extensions = [now - day * 500, now - day * 2, now] }, .subscriptionMaxExtension),
  ]

  @Test(arguments: cases.indices)
  func `each of Apple's rules has its error`(index: Int) {
    let example = Self.cases[index]
    var facts = Self.eligible
    example.change(&facts)
    #expect(facts.refusal(now: Self.now) == example.refusal, "\(example.what)")
  }
}
