import AppStore
import AppStoreSigning
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct ExtensionServiceTests {
  private static let uuid = "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"
  private static let mass = "/inApps/v1/subscriptions/extend/mass"
  private static let body: JSONObject = [
    "extendByDays": 30, "extendReasonCode": 3, "requestIdentifier": .string(uuid),
    "productId": .string(SimulatorFixture.monthly),
  ]
  private static let status = "\(mass)/\(SimulatorFixture.monthly)/\(uuid)"

  private func summary(_ simulator: SimulatorFixture) throws -> ExtensionSummary {
    let summaries = simulator.sent(.renewalExtension).filter { $0.facts.kind.subtype == .summary }
    #expect(summaries.count == 1)
    guard case .summary(let summary) = try #require(summaries.last).facts.content else {
      throw UnexpectedOutcome(outcome: nil)
    }
    return summary
  }

  @Test(arguments: [0.0, 0.3, 1.0])
  func `a job takes time, and its notifications, its status and its summary agree`(failureShare: Double)
    async throws
  {
    let simulator = try SimulatorFixture {
      $0.massExtension = MassExtensionSettings(
        startDelay: .seconds(60), duration: .seconds(3_600), failureShare: failureShare)
    }
    for _ in 0..<50 { try simulator.buy() }
    try simulator.buy("other.monthly")
    try simulator.buy(offer: SimulatorFixture.trial)
    #expect(try await simulator.json(.post, Self.mass, body: Self.body) == ["requestIdentifier": .string(Self.uuid)])
    #expect(
      try await simulator.json(.get, Self.status) == ["requestIdentifier": .string(Self.uuid), "complete": false])
    try simulator.pass(.seconds(60 + 1_800))
    let half = simulator.sent(.renewalExtended).count + simulator.sent(.renewalExtension).count
    #expect((20...30).contains(half))
    try simulator.pass(.seconds(1_800))
    let succeeded = simulator.sent(.renewalExtended).count
    let failed = simulator.sent(.renewalExtension).count { $0.facts.kind.subtype == .failure }
    #expect(succeeded + failed == 50)
    #expect(failureShare != 0 || failed == 0)
    #expect(failureShare != 1 || succeeded == 0)
    #expect(
      try summary(simulator)
        == ExtensionSummary(
          productId: SimulatorFixture.monthly, requestIdentifier: Self.uuid, storefronts: nil,
          succeeded: Int64(succeeded), failed: Int64(failed)))
    #expect(
      try await simulator.json(.get, Self.status) == [
        "requestIdentifier": .string(Self.uuid), "complete": true,
        "completeDate": .integer(simulator.now.millisecondsSince1970), "succeededCount": .integer(Int64(succeeded)),
        "failedCount": .integer(Int64(failed)),
      ])
  }

  @Test func `a job can have some storefronts only, and an empty job is valid`() async throws {
    let simulator = try SimulatorFixture()
    for storefront in ["USA", "DEU", "DEU", "FRA"] { try simulator.buy(storefront: storefront) }
    _ = try await simulator.json(.post, Self.mass, body: Self.body.with("storefrontCountryCodes", ["DEU"]))
    try simulator.pass(.seconds(3 * 3_600))
    #expect(simulator.sent(.renewalExtended).count == 2)
    #expect(try summary(simulator).storefronts == ["DEU"])
    let other = "00000000-7c1d-4b1e-9f5e-0d6f6f3f2a11"
    let body = Self.body.with("storefrontCountryCodes", ["JPN"]).with("requestIdentifier", .string(other))
    _ = try await simulator.json(.post, Self.mass, body: body)
    try simulator.pass(.seconds(3 * 3_600))
    let json = try await simulator.json(.get, "\(Self.mass)/\(SimulatorFixture.monthly)/\(other)")
    #expect(json["succeededCount"] == 0)
    #expect(json["complete"] == true)
  }

  @Test func `subscriptions that lose eligibility during the job fail, and the counts still agree`() async throws {
    let simulator = try SimulatorFixture()
    let ids = try (0..<10).map { _ in try simulator.buy() }
    _ = try await simulator.json(.post, Self.mass, body: Self.body)
    try simulator.world.withState { try $0.refund(ids[4], at: simulator.now) }
    try simulator.pass(.seconds(3 * 3_600))
    #expect(try summary(simulator).succeeded == 9)
    #expect(try summary(simulator).failed == 1)
  }

  @Test func `a repeated request starts one job, unless Apple has no memory`() async throws {
    for (memory, jobs) in [(RequestMemoryModel.everything, 1), (.nothing, 2)] {
      let simulator = try SimulatorFixture { $0.requestMemory = memory }
      try simulator.buy()
      for _ in 0..<2 { _ = try await simulator.json(.post, Self.mass, body: Self.body) }
      try simulator.pass(.seconds(3 * 3_600))
      #expect(simulator.sent(.renewalExtended).count == jobs, "\(memory)")
    }
  }

  @Test func `a failure can be retried individually`() async throws {
    let simulator = try SimulatorFixture { $0.massExtension.failureShare = 1 }
    let id = try simulator.buy()
    _ = try await simulator.json(.post, Self.mass, body: Self.body)
    try simulator.pass(.seconds(3 * 3_600))
    #expect(simulator.sent(.renewalExtended).isEmpty)
    _ = try await simulator.json(
      .put, "/inApps/v1/subscriptions/extend/\(id)",
      body: ["extendByDays": 30, "extendReasonCode": 3, "requestIdentifier": "again"])
    #expect(simulator.sent(.renewalExtended).count == 1)
  }

  @Test func `a completed job keeps its counts and releases its subscriptions`() throws {
    let simulator = try SimulatorFixture()
    let service = ExtensionService(simulator.world, MassExtensionSettings(failureShare: 0), seed: 1)
    for _ in 0..<10 { try simulator.buy() }
    for number in 0..<3 {
      let uuid = "0000000\(number)-7c1d-4b1e-9f5e-0d6f6f3f2a11"
      service.open(
        try MassExtensionRequest(Self.body.with("requestIdentifier", .string(uuid))), realm: simulator.production,
        at: simulator.now)
      #expect(service.targetCount == (number < 2 ? 10 : 0))
      try simulator.pass(.seconds(3 * 3_600))
      #expect(service.targetCount == 0)
      let job = try #require(
        service.status(
          realm: simulator.production, productId: SimulatorFixture.monthly, requestIdentifier: uuid.uppercased()))
      #expect(job.completed != nil && job.succeeded == (number < 2 ? 10 : 0))
    }
  }

  @Test func `an invalid job is refused`() async throws {
    let simulator = try SimulatorFixture()
    #expect(try await simulator.answer(.post, Self.mass, body: Self.body.with("productId", "x")).code == 4_000_023)
    let coins = Self.body.with("productId", .string(SimulatorFixture.coins))
    #expect(try await simulator.answer(.post, Self.mass, body: coins).code == 4_000_023)
    #expect(try await simulator.answer(.get, Self.status).code == 4_040_009)
    #expect(try await simulator.answer(.get, "\(Self.mass)/\(SimulatorFixture.monthly)/x").code == 4_000_011)
  }
}
