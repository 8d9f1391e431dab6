import AppStore
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import HTTPTypes
import Logging
import Synchronization
import TestEnvironment
import Testing

@testable import AppStoreSimulator

@Suite struct SimulatorTests {
  private let time = ManualClock(start: .newYear)

  private func scenario() throws -> Scenario {
    var scenario = try Scenario(
      yaml: """
        duration: 2h
        apps:
          - bundleId: com.example.app
            appAppleId: 1234567890
            environments: [Production]
            notifications: { Production: { url: "http://example.invalid/v2" } }
            products: [{ productId: monthly }, { productId: coins, type: consumable }]
        world: { customers: [{ count: 20, products: [monthly] }] }
        events:
          - { do: cancel, after: 10m, count: 5 }
          - { do: purchase, after: 20m, for: 10m, count: 10, product: coins }
        delivery: { latency: 0s }
        """)
    _ = scenario.addMadeKey()
    return scenario
  }

  @Test(.timeLimit(.minutes(15)))
  func `a scenario runs to its end, sends its notifications and reports them`() async throws {
    let posted = Mutex<[[UInt8]]>([])
    let arrivals = AsyncStream<Void>.makeStream()
    let listening = AsyncStream<SimulatorPorts>.makeStream()
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock,
      post: { _, body in
        posted.withLock { $0.append(body) }
        arrivals.continuation.yield()
        return PostOutcome(status: 200)
      }, logger: Logger(label: "test"), onListening: { listening.continuation.yield($0) })
    try await withThrowingTaskGroup { group in
      group.addTask { try await simulator.run() }
      var ports = listening.stream.makeAsyncIterator()
      let found = try #require(await ports.next())
      #expect(found.production != nil && found.production != 0)
      // The end of the scenario and the next event of the simulation. The scheduler has nothing to wait for.
      await time.waitForSleepers(2)
      time.advance(by: .seconds(600))
      var iterator = arrivals.stream.makeAsyncIterator()
      for _ in 0..<5 { await iterator.next() }
      time.advance(by: .seconds(3_600))
      for _ in 0..<10 { await iterator.next() }
      try await waitUntil(simulator.report.deliveries.acknowledged >= 15)
      time.advance(by: .seconds(3_600))
      try await group.waitForAll()
    }
    let report = simulator.report
    #expect(
      report.deliveries.sent == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED": 5, "ONE_TIME_CHARGE": 10])
    #expect(report.events.map(\.done) == [5, 10])
    #expect(report.api.broken.isEmpty)
    #expect(report.text.contains("15 notifications: 15 acknowledged"))
    #expect(report.json["notifications"] != nil && report.json["asked"] != nil)

    var configuration = SignedDataVerifier.Configuration()
    configuration.innerTokens = .verified
    configuration.trustedRoots = [simulator.signer.leaves.rootDER]
    let verifier = try SignedDataVerifier(configuration)
    for body in posted.withLock({ $0 }) {
      let jws = try #require(try ResponseBodyV2(parsing: body).signedPayload)
      let found = try await verifier.verifyNotification(
        Array(jws.utf8), identity: Rehearsal.policy(Rehearsal.production))
      #expect(found.inner == .verified)
    }
  }

  @Test func `an event can be started manually, and an unknown one is refused by name`() throws {
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    #expect(try simulator.cause(["do": "test"]) == "test")
    try simulator.world.run(until: .newYear)
    #expect(simulator.world.told() == ["TEST"])
    let error = try #require(throws: ScenarioError.self) { try simulator.cause(["do": "test", "wen": "5m"]) }
    #expect(error.description == "wen: unknown key")
  }

  @Test(
    arguments: [
      (["do": "requestRefnd"], "do", "requestRefund"),
      (["do": "cancel", "cuont": 5], "cuont", "count"),
      (["do": "cancel", "product": "montly"], "product", "monthly"),
      (["do": "cancel", "app": "com.exmaple.app"], "app", "com.example.app"),
      (["do": "changePlan", "to": "coin"], "to", "coins"),
      (["do": "cancel", "storefronts": ["DEUT"]], "storefronts", "DEU"),
      (["do": "cancel", "environment": "production"], "environment", "Production"),
      (["do": "requestRefund", "reason": "LEAGL"], "reason", "LEGAL"),
      (["do": "send", "type": "DID_RENEW", "subtype": "BILING_RECOVERY"], "type", "DID_RENEW/BILLING_RECOVERY"),
      (["do": "cancel", "environment": "Sandbox"], "environment", nil),
      (["do": "waltz"], "do", nil),
    ] as [(JSONObject, String, String?)])
  func `a control request with an unknown name is 400 and suggests the nearest name`(
    body: JSONObject, key: String, nearest: String?
  ) throws {
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    let control = ControlEndpoints(
      services: simulator.services,
      control: SimulatorControl(rootPEM: "", cause: { try simulator.cause($0) }), now: { .newYear })
    func post(_ body: JSONObject) throws -> (status: Int, json: JSONObject) {
      let answer = control.answer(
        IncomingRequest(
          environment: .production, method: .post, path: "/simulator/events", query: [], authorization: nil,
          body: body.serialized()))
      return (answer.status, try JSONObject(parsing: answer.body))
    }
    let refused = try post(body)
    #expect(refused.status == 400)
    #expect(refused.json["key"] == .string(key))
    #expect(refused.json["nearest"] == nearest.map { .string($0) }, "\(refused.json)")
    #expect(try post(["do": "cancel", "count": 1]).status == 200)
    // Refused events have not started.
    #expect(simulator.report.events.map(\.name) == ["cancel", "purchase", "cancel"])
  }

  @Test(arguments: ScenarioAction.names)
  func `every listed action is accepted`(name: String) throws {
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    do {
      try simulator.cause(["do": .string(name)])
    } catch let error as ScenarioError {
      // Some actions need further members.
      #expect(error.problem == "missing", "\(error)")
    }
  }

  @Test func `a mass extension can be an event, and its notifications and its summary agree`() throws {
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    try simulator.cause(["do": "massExtend", "product": "monthly", "days": 30])
    try simulator.world.run(until: .newYear + .seconds(4 * 3_600))
    #expect(simulator.report.events.last?.done == 1)
    let summaries = simulator.world.withState { state in
      state.realms[0].log.records.compactMap { record -> ExtensionSummary? in
        if case .summary(let summary) = record.facts.content { summary } else { nil }
      }
    }
    let told = simulator.world.told()
    let summary = try #require(summaries.first { $0.productId == "monthly" })
    #expect(summary.succeeded + summary.failed == 20)
    #expect(told.filter { $0 == "RENEWAL_EXTENDED" }.count == Int(summary.succeeded))
    #expect(told.filter { $0 == "RENEWAL_EXTENSION/FAILURE" }.count == Int(summary.failed))
  }

  @Test func `the scenario and the seed determine the run, regardless of the start`() throws {
    func run(startedAt start: Timestamp) throws -> (origin: Timestamp, told: [String]) {
      var scenario = try scenario()
      scenario.origin = Timestamp(rfc3339: "2026-03-02T08:00:00Z")
      // The clock of a rehearsal has already advanced when the simulator is created.
      let simulator = try Simulator(
        scenario, chain: SimulatorFixture.chain.get(), clock: ManualClock(start: start).clock,
        logger: Logger(label: "test"))
      try simulator.world.run(until: simulator.origin + .seconds(3_600))
      return (
        simulator.origin,
        simulator.world.withState { state in
          state.realms[0].log.records.map { "\($0.facts.uuid.text) \($0.facts.kind) \($0.facts.signedDate)" }
        }
      )
    }
    let origin = try #require(Timestamp(rfc3339: "2026-03-02T08:00:00Z"))
    let first = try run(startedAt: origin + .milliseconds(3))
    let second = try run(startedAt: origin + .seconds(7))
    #expect(first.origin == origin && second.origin == origin)
    #expect(first.told == second.told && first.told.count >= 15)
  }
}
