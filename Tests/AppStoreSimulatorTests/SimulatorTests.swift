import AppStore
import AppStoreSignature
import AppStoreSigning
import Clocks
import Logging
import Synchronization
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

  @Test(.timeLimit(.minutes(5)))
  func `A scenario runs to its end, sends what happens in it and reports it`() async throws {
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
      // The end of the scenario and the world's next event; the courier has nothing to wait for.
      await time.waitForSleepers(2)
      time.advance(by: .seconds(600))
      var iterator = arrivals.stream.makeAsyncIterator()
      for _ in 0..<5 { await iterator.next() }
      time.advance(by: .seconds(3_600))
      for _ in 0..<10 { await iterator.next() }
      while simulator.report.deliveries.acknowledged < 15 { await Task.yield() }
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
    configuration.trustedRoots = [simulator.signatory.leaves.rootDER]
    let verifier = try SignedDataVerifier(configuration)
    for body in posted.withLock({ $0 }) {
      let jws = try #require(try ResponseBodyV2(parsing: body).signedPayload)
      let found = try await verifier.verifyNotification(
        Array(jws.utf8), identity: Rehearsal.policy(Rehearsal.production))
      #expect(found.inner == .verified)
    }
  }

  @Test func `An event can be caused by hand, and what is no event is refused by name`() throws {
    let simulator = try Simulator(
      scenario(), chain: SimulatorFixture.chain.get(), clock: time.clock, logger: Logger(label: "test"))
    #expect(try simulator.cause(["do": "test"]) == "test")
    try simulator.world.run(until: .newYear)
    #expect(simulator.world.told() == ["TEST"])
    let error = try #require(throws: ScenarioError.self) { try simulator.cause(["do": "test", "wen": "5m"]) }
    #expect(error.description == "wen: unknown key")
  }
}
