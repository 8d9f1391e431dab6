import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct RefundPolicyTests {
  private func answer(_ preference: JSON?, consumed: JSON? = nil) throws -> ConsumptionInformation {
    let body: JSONObject = ["customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false]
    return try ConsumptionInformation(
      body.with("refundPreference", preference).with("consumptionPercentage", consumed), of: .consumable)
  }

  private func decide(_ policy: RefundPolicy, _ answer: ConsumptionInformation?, elapsed: Int64? = nil)
    -> RefundPolicy.Decision
  {
    var generator = SeededGenerator(seed: 5)
    return policy.decision(answer, elapsed: elapsed, using: &generator)
  }

  @Test func `a preference is followed`() throws {
    let policy = RefundPolicy()
    #expect(decide(policy, try answer("DECLINE")) == .declined)
    #expect(decide(policy, try answer("GRANT_FULL")) == .refunded(percentage: 100_000, isReversedLater: false))
    #expect(
      decide(policy, try answer("GRANT_PRORATED", consumed: 40_000))
        == .refunded(percentage: 60_000, isReversedLater: false))
  }

  @Test(arguments: [(Int64(0), Int64(100_000)), (25_000, 75_000), (100_000, 1), (250_000, 1)])
  func `a subscription is prorated by the elapsed time, and some part is always refunded`(elapsed: Int64, paid: Int64)
    throws
  {
    #expect(
      decide(RefundPolicy(), try answer("GRANT_PRORATED", consumed: 1), elapsed: elapsed)
        == .refunded(percentage: paid, isReversedLater: false))
  }

  @Test func `without a preference the share decides`() {
    #expect(decide(RefundPolicy(grantShare: 0), nil) == .declined)
    #expect(decide(RefundPolicy(grantShare: 1), nil) == .refunded(percentage: 100_000, isReversedLater: false))
    #expect(
      decide(RefundPolicy(reversalShare: 1), nil) == .refunded(percentage: 100_000, isReversedLater: true))
  }

  @Test(arguments: [UInt64(11), 12])
  func `shares are approximately right and reproducible`(seed: UInt64) throws {
    let policy = RefundPolicy(followsPreference: 0.75, grantShare: 1)
    let decline = try answer("DECLINE")
    func declined() -> [Bool] {
      var generator = SeededGenerator(seed: seed)
      return (0..<2_000).map { _ in policy.decision(decline, elapsed: nil, using: &generator) == .declined }
    }
    #expect((1_400...1_600).contains(declined().count { $0 }), "seed \(seed)")
    #expect(declined() == declined())
  }
}
