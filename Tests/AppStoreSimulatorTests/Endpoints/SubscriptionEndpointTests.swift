import AppStore
import AppStoreSignature
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct SubscriptionEndpointTests {
  private static let body: JSONObject = [
    "extendByDays": 14, "extendReasonCode": 3, "requestIdentifier": "campaign/1",
  ]

  private func path(_ id: Int64) -> String { "/inApps/v1/subscriptions/extend/\(id)" }

  @Test func `statuses are grouped, and a filter selects its values`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let other = try simulator.buyAgain("other.monthly", like: id)
    let path = "/inApps/v1/subscriptions/\(id)"
    let json = try await simulator.json(.get, path)
    #expect(json["bundleId"] == .string(simulator.caller.bundleId))
    #expect(json["environment"] == "Production")
    guard case .array(let groups) = json["data"] else {
      Issue.record("no data")
      return
    }
    #expect(groups.count == 2)
    guard case .object(let group) = groups[1], case .array(let items) = group["lastTransactions"],
      case .object(let item) = items.first
    else {
      Issue.record("no group")
      return
    }
    #expect(group["subscriptionGroupIdentifier"] == "99999999")
    #expect(item["status"] == 1)
    #expect(item["originalTransactionId"] == .string(String(other)))
    #expect(try await simulator.transaction(item["signedTransactionInfo"]).transactionId == String(other))
    let renewal = try #require(item["signedRenewalInfo"].flatMap(String.init(jsonValue:)))
    let info = try await simulator.verifier.verifyRenewalInfo(Array(renewal.utf8), identity: .any).payload
    #expect(info.originalTransactionId == String(other))
    #expect(try await simulator.json(.get, path, query: [("status", "2"), ("status", "5")])["data"] == [])
    #expect(try await simulator.answer(.get, path, query: [("status", "6")]).code == 4_000_031)
  }

  @Test func `an extension moves the renewal date and sends a notification`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let before = try simulator.world.withState { try #require($0.subscriptions[id]?.expires) }
    let json = try await simulator.json(.put, path(id), body: Self.body)
    let expected = before + .seconds(14 * 86_400)
    #expect(json["success"] == true)
    #expect(json["originalTransactionId"] == .string(String(id)))
    #expect(json["effectiveDate"] == .integer(expected.millisecondsSince1970))
    #expect(simulator.sent(.renewalExtended).count == 1)
    #expect(try simulator.world.withState { try #require($0.subscriptions[id]?.expires) } == expected)
  }

  @Test func `in a grace period the date can be moved during the period, and not after`() async throws {
    let simulator = try SimulatorFixture()
    let hour = Duration.seconds(3_600)
    let extended = try simulator.buy(SimulatorFixture.graceful)
    let late = try simulator.buy(SimulatorFixture.graceful)
    try simulator.world.withState { state in
      for id in [extended, late] { try state.failToRenew(id, endingIn: hour, at: simulator.now) }
    }
    let json = try await simulator.json(.put, path(extended), body: Self.body)
    let end = simulator.now + hour + .seconds(14 * 86_400)
    #expect(json["effectiveDate"] == .integer(end.millisecondsSince1970))
    try simulator.world.withState { state in
      let subscription = try #require(state.subscriptions[extended])
      #expect(subscription.status == .active && subscription.graceExpires == nil && subscription.retryEnds == nil)
    }
    try simulator.pass(hour)
    #expect(try simulator.world.withState { try #require($0.subscriptions[late]).status } == .billingGracePeriod)
    #expect(try await simulator.answer(.put, path(late), body: Self.body).code == 4_030_004)
    // Billing is retried at the new date.
    try simulator.pass(.seconds(14 * 86_400))
    let renewed = try simulator.world.withState { try #require($0.subscriptions[extended]) }
    #expect(renewed.status == .active && renewed.expires > end)
  }

  @Test func `a mass extension moves the dates of families and counts them`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let members = try simulator.world.withState { state in
      try (0..<2).map { _ in try state.share(id, at: simulator.now) }
    }
    let uuid = "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"
    let mass = "/inApps/v1/subscriptions/extend/mass"
    _ = try await simulator.json(
      .post, mass,
      body: Self.body.with("requestIdentifier", .string(uuid)).with("productId", .string(SimulatorFixture.monthly)))
    try simulator.pass(.seconds(3 * 3_600))
    let status = try await simulator.json(.get, "\(mass)/\(SimulatorFixture.monthly)/\(uuid)")
    #expect(status["succeededCount"] == 3 && status["failedCount"] == 0)
    #expect(simulator.sent(.renewalExtended).count == 3)
    #expect(try await simulator.answer(.put, path(members[0]), body: Self.body).code == 4_030_007)
  }

  @Test func `an ineligible subscription is refused with the matching rule`() async throws {
    let simulator = try SimulatorFixture()
    let trial = try simulator.buy(offer: SimulatorFixture.trial)
    let shared = try simulator.buy(ownership: .familyShared)
    let coins = try simulator.buy(SimulatorFixture.coins)
    let twice = try simulator.buy()
    func code(_ id: Int64, _ identifier: String = "x") async throws -> Int64? {
      try await simulator.answer(
        .put, path(id), body: Self.body.with("requestIdentifier", .string("\(identifier)/\(id)"))
      ).code
    }
    #expect(try await code(trial) == 4_030_004)
    #expect(try await code(shared) == 4_030_007)
    #expect(try await code(coins) == 4_040_005)
    #expect(try await code(7) == 4_040_005)
    #expect(try await code(twice, "first") == nil)
    #expect(try await code(twice, "second") == nil)
    #expect(try await code(twice, "third") == 4_030_005)
    try simulator.world.withState { try $0.refund(twice, at: simulator.now) }
    #expect(try await code(twice, "fourth") == 4_030_004)
  }

  @Test func `an Apple that remembers everything extends once and repeats its answer`() async throws {
    let simulator = try SimulatorFixture { $0.requestMemory = .everything }
    let id = try simulator.buy()
    let first = try await simulator.json(.put, path(id), body: Self.body)
    let second = try await simulator.json(.put, path(id), body: Self.body)
    #expect(first == second)
    #expect(simulator.sent(.renewalExtended).count == 1)
    #expect(simulator.services.report.broken.isEmpty)
  }

  @Test func `an Apple that remembers successes decides again after a refusal`() async throws {
    let simulator = try SimulatorFixture { $0.requestMemory = .successes }
    let id = try simulator.buy(offer: SimulatorFixture.trial)
    #expect(try await simulator.answer(.put, path(id), body: Self.body).status == 403)
    try simulator.pass(.seconds(8 * 86_400))
    #expect(try await simulator.answer(.put, path(id), body: Self.body).status == 200)
    #expect(try await simulator.answer(.put, path(id), body: Self.body).status == 200)
    #expect(simulator.sent(.renewalExtended).count == 1)
  }

  @Test func `an Apple without memory extends twice, and the journal records it`() async throws {
    let simulator = try SimulatorFixture { $0.requestMemory = .nothing }
    let id = try simulator.buy()
    for _ in 0..<2 { #expect(try await simulator.answer(.put, path(id), body: Self.body).status == 200) }
    #expect(simulator.sent(.renewalExtended).count == 2)
    #expect(simulator.breaches(.effectRepeated) == 1)
  }

  @Test func `a reused identifier with another request is recorded`() async throws {
    let simulator = try SimulatorFixture()
    let (one, other) = (try simulator.buy(), try simulator.buy())
    _ = try await simulator.json(.put, path(one), body: Self.body)
    _ = try await simulator.json(.put, path(one), body: Self.body.with("extendByDays", 15))
    _ = try await simulator.json(.put, path(other), body: Self.body)
    #expect(simulator.breaches(.requestIdentifierReused) == 2)
    #expect(simulator.sent(.renewalExtended).count == 2)
  }

  @Test func `a request that repeats a permanent refusal is recorded, and the first one is not`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(offer: SimulatorFixture.trial)
    _ = try await simulator.answer(.put, path(id), body: Self.body)
    #expect(simulator.breaches(.repeatedAfterFinalAnswer) == 0)
    _ = try await simulator.answer(.put, path(id), body: Self.body)
    #expect(simulator.breaches(.repeatedAfterFinalAnswer) == 1)
  }

  @Test func `a missing reason code is an internal error, as observed`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let answer = try await simulator.answer(.put, path(id), body: Self.body.with("extendReasonCode", nil))
    #expect(answer.status == 500)
    #expect(try await simulator.answer(.put, path(id), body: nil).code == 4_000_000)
  }
}
