// `recentSubscriptionStartDate`: the start of a series of purchases without a long gap.

import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct RecentStartDateTests {
  private let day = Duration.seconds(86_400)

  private func date(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text + "T00:00:00Z")) }

  private func resubscribe(_ original: Int64, _ world: World, at now: Timestamp) throws {
    try world.withState { state in
      let customer = try #require(state.transactions[original]?.customer)
      try state.purchase(Rehearsal.monthly, by: customer, at: now)
    }
  }

  private func recentStart(_ original: Int64, _ world: World) throws -> Timestamp? {
    let id = try world.subscription(original).transactionId
    let subject = try #require(world.withState { $0.subject(ofTransaction: id) })
    let payload = try #require(subject.renewalPayload(signedDate: .newYear))
    return JWSRenewalInfoDecodedPayload(json: payload).recentSubscriptionStartDate
  }

  /// The example of Apple's page.
  @Test(arguments: [("2023-02-01", "2022-06-01"), ("2023-04-01", "2023-04-01")])
  func `a gap of less than 60 days keeps the start`(again: String, expected: String) throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: date("2022-06-01"))
    try world.run(until: date("2022-12-30"))
    let end = try date("2022-12-31")
    try world.withState { try $0.expire(original, .customerCancelled, at: end) }
    #expect(try recentStart(original, world) == date("2022-06-01"))
    try resubscribe(original, world, at: date(again))
    #expect(try recentStart(original, world) == date(expected))
    try world.run(until: date(again) + day * 40)
    #expect(try recentStart(original, world) == date(expected))
  }

  static let gaps: [(RealmID, Duration, Bool)] = [
    (Rehearsal.production, .seconds(60 * 86_400), true), (Rehearsal.production, .seconds(60 * 86_400 + 1), false),
    (Rehearsal.sandbox, .seconds(600), true), (Rehearsal.sandbox, .seconds(601), false),
  ]

  @Test(arguments: gaps)
  func `the longest gap is 60 days, and 10 minutes in the sandbox`(
    realm: RealmID, gap: Duration, isKept: Bool
  ) throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, in: realm, at: .newYear)
    let end = Timestamp.newYear + day
    try world.withState { try $0.expire(original, .customerCancelled, at: end) }
    try resubscribe(original, world, at: end + gap)
    #expect(try recentStart(original, world) == (isKept ? .newYear : end + gap))
  }

  /// "Counts a grace period or a billing retry state as a gap in the paid service."
  @Test func `billing retry and the time after a refund are gaps`() throws {
    for hasRefund in [false, true] {
      let world = Rehearsal.world()
      let original = try world.buy(Rehearsal.graceful, in: Rehearsal.sandbox, at: .newYear)
      let end = Timestamp.newYear + day
      let back = end + .seconds(601)
      try world.withState { state in
        guard hasRefund else {
          try state.failToRenew(original, at: end)
          try state.renew(original, at: back)
          return
        }
        try state.refund(original, at: end)
        let customer = try #require(state.transactions[original]?.customer)
        try state.purchase(Rehearsal.graceful, by: customer, at: back)
      }
      // In the grace period, the new period begins at the end of the old one.
      #expect(try recentStart(original, world) == (hasRefund ? back : end))
    }
  }
}
