import AppStore
import AppStoreSigning
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct RefundServiceTests {
  private static let body: JSONObject = [
    "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
  ]

  private func path(_ id: Int64, version: Int = 2) -> String { "/inApps/v\(version)/transactions/consumption/\(id)" }

  private func kinds(_ simulator: SimulatorFixture) -> [NotificationTypeV2] {
    simulator.sent().map(\.facts.kind.type).filter { $0 != .oneTimeCharge && $0 != .subscribed }
  }

  @Test func `a preference takes effect two hours after the answer`() async throws {
    for (preference, decision) in [("DECLINE", NotificationTypeV2.refundDeclined), ("GRANT_FULL", .refund)] {
      let simulator = try SimulatorFixture()
      let id = try simulator.buy(SimulatorFixture.coins)
      try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
      #expect(kinds(simulator) == [.consumptionRequest])
      let body = Self.body.with("refundPreference", .string(preference))
      #expect(try await simulator.answer(.put, path(id), body: body) == .empty(202))
      try simulator.pass(.seconds(2 * 3_600 - 1))
      #expect(kinds(simulator) == [.consumptionRequest])
      try simulator.pass(.seconds(1))
      #expect(kinds(simulator) == [.consumptionRequest, decision])
      // The deadline does not cause a second decision.
      try simulator.pass(.seconds(24 * 3_600))
      #expect(kinds(simulator) == [.consumptionRequest, decision])
      #expect(simulator.services.report.broken.isEmpty)
    }
  }

  @Test func `a prorated refund contains the refunded percentage`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(SimulatorFixture.coins)
    try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
    let body = Self.body.with("refundPreference", "GRANT_PRORATED").with("consumptionPercentage", 40_000)
    #expect(try await simulator.answer(.put, path(id), body: body).status == 202)
    try simulator.pass(.seconds(3 * 3_600))
    let json = try await simulator.json(.get, "/inApps/v1/transactions/\(id)")
    let transaction = try await simulator.transaction(json["signedTransactionInfo"])
    #expect(transaction.revocationType == .refundProrated)
    #expect(transaction.revocationPercentage == 60_000)
  }

  @Test func `without an answer Apple decides after twelve hours`() throws {
    for (grantShare, decision) in [(1.0, NotificationTypeV2.refund), (0.0, .refundDeclined)] {
      let simulator = try SimulatorFixture { $0.refunds.grantShare = grantShare }
      let id = try simulator.buy(SimulatorFixture.coins)
      try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
      try simulator.pass(.seconds(12 * 3_600 - 1))
      #expect(kinds(simulator) == [.consumptionRequest])
      try simulator.pass(.seconds(1))
      #expect(kinds(simulator) == [.consumptionRequest, decision])
    }
  }

  @Test func `a refund can be reversed later`() throws {
    let simulator = try SimulatorFixture { $0.refunds.reversalShare = 1 }
    let id = try simulator.buy(SimulatorFixture.coins)
    try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
    try simulator.pass(.seconds(15 * 86_400))
    #expect(kinds(simulator) == [.consumptionRequest, .refund, .refundReversed])
    #expect(simulator.world.withState { $0.transactions[id]?.revocationDate } == nil)
  }

  @Test func `unrequested, repeated and late answers are accepted and recorded`() async throws {
    let simulator = try SimulatorFixture()
    let ids = try (0..<3).map { _ in try simulator.buy(SimulatorFixture.coins) }
    #expect(try await simulator.answer(.put, path(ids[0]), body: Self.body).status == 202)
    #expect(simulator.breaches(.consumptionNotRequested) == 1)
    try simulator.services.customerAsksForRefund(of: ids[1], at: simulator.now)
    for _ in 0..<2 { _ = try await simulator.answer(.put, path(ids[1]), body: Self.body) }
    #expect(simulator.breaches(.consumptionRepeated) == 1)
    try simulator.services.customerAsksForRefund(of: ids[2], at: simulator.now)
    try simulator.pass(.seconds(13 * 3_600))
    _ = try await simulator.answer(.put, path(ids[2]), body: Self.body)
    #expect(simulator.breaches(.consumptionLate) == 1)
  }

  @Test func `a request that the simulation made itself can be answered too`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(SimulatorFixture.coins)
    _ = try simulator.world.withState { try $0.requestRefund(id, at: simulator.now) }
    _ = try await simulator.answer(.put, path(id), body: Self.body.with("refundPreference", "DECLINE"))
    try simulator.pass(.seconds(2 * 3_600))
    #expect(kinds(simulator) == [.consumptionRequest, .refundDeclined])
    #expect(simulator.services.report.broken.isEmpty)
  }

  @Test func `a second request after a refusal is a new case`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(SimulatorFixture.coins)
    for preference in ["DECLINE", "GRANT_FULL"] {
      try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
      _ = try await simulator.answer(.put, path(id), body: Self.body.with("refundPreference", .string(preference)))
      try simulator.pass(.seconds(3 * 3_600))
    }
    #expect(kinds(simulator) == [.consumptionRequest, .refundDeclined, .consumptionRequest, .refund])
    #expect(simulator.services.report.broken.isEmpty)
  }

  @Test func `an answer without consent is refused, and the journal names the rule`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(SimulatorFixture.coins)
    let answer = try await simulator.answer(.put, path(id), body: Self.body.with("customerConsented", false))
    #expect(try answer.code == 4_000_035)
    #expect(simulator.breaches(.consumptionWithoutConsent) == 1)
    #expect(simulator.breaches(.invalidRequest) == 0)
  }

  @Test func `version 1 accepts consumables and subscriptions only`() async throws {
    let simulator = try SimulatorFixture()
    let body: JSONObject = [
      "customerConsented": true, "consumptionStatus": 0, "platform": 0, "sampleContentProvided": true,
      "deliveryStatus": 0, "appAccountToken": "", "accountTenure": 0, "playTime": 0, "lifetimeDollarsRefunded": 0,
      "lifetimeDollarsPurchased": 0, "userStatus": 0,
    ]
    let lifetime = try simulator.buy(SimulatorFixture.lifetime)
    #expect(try await simulator.answer(.put, path(lifetime, version: 1), body: body).code == 4_000_047)
    let coins = try simulator.buy(SimulatorFixture.coins)
    #expect(try await simulator.answer(.put, path(coins, version: 1), body: body).status == 202)
  }

  @Test func `the elapsed time of a subscription is its consumption`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let wrong = Self.body.with("consumptionPercentage", 0)
    #expect(try await simulator.answer(.put, path(id), body: wrong).code == 4_000_903)
    try simulator.pass(.seconds(15 * 86_400))
    try simulator.services.customerAsksForRefund(of: id, at: simulator.now)
    _ = try await simulator.answer(.put, path(id), body: Self.body.with("refundPreference", "GRANT_PRORATED"))
    try simulator.pass(.seconds(2 * 3_600))
    let percentage = try simulator.world.withState { try #require($0.transactions[id]?.revocation?.percentage) }
    // Half of January's 31 days have passed.
    #expect((51_000...52_000).contains(percentage))
  }

  @Test(arguments: [2, 1])
  func `the refund history has pages of twenty, or the newest fifty refunds`(version: Int) async throws {
    let simulator = try SimulatorFixture()
    var ids = [try simulator.buy(SimulatorFixture.coins)]
    for _ in 1..<60 { ids.append(try simulator.buyAgain(SimulatorFixture.coins, like: ids[0])) }
    try simulator.buyAgain(SimulatorFixture.lifetime, like: ids[0])
    for id in ids {
      try simulator.pass(.seconds(1))
      try simulator.world.withState { try $0.refund(id, at: simulator.now) }
    }
    let path = "/inApps/v\(version)/refund/lookup/\(ids[0])"
    if version == 1 {
      let json = try await simulator.json(.get, path)
      #expect(try await simulator.transactionIds(json) == ids.suffix(50).reversed().map { String($0) })
      return
    }
    var seen: [String] = []
    var revision: String?
    for page in 0..<3 {
      let json = try await simulator.json(.get, path, query: revision.map { [("revision", $0)] } ?? [])
      seen += try await simulator.transactionIds(json)
      #expect(json["hasMore"] == .bool(page < 2))
      revision = json["revision"].flatMap(String.init(jsonValue:))
    }
    #expect(seen == ids.map { String($0) })
  }
}
