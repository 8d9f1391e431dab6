import AppStore
import MillraceTime
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite(.timeLimit(.minutes(15))) struct RequestPipelineTests {
  private static let extend: JSONObject = [
    "extendByDays": 14, "extendReasonCode": 3, "requestIdentifier": "campaign/1",
  ]

  @Test func `a refused token gets an unexplained 401, and the journal has the reason`() async throws {
    let simulator = try SimulatorFixture()
    let answer = try await simulator.answer(.get, "/inApps/v1/transactions/1", authorization: "Bearer x")
    #expect(answer == .unauthenticated)
    #expect(throws: JSONError.self) { try JSONObject(parsing: answer.body) }
    #expect(simulator.breaches(.tokenRefused) == 1)
  }

  @Test func `a token's app must exist, be released there and belong to the issuer`() async throws {
    let simulator = try SimulatorFixture()
    func answer(_ bundleId: String?, in environment: AppStoreEnvironment = .production) async throws -> APIAnswer {
      let claims = simulator.caller.claims(now: simulator.now).with("bid", bundleId.map { .string($0) })
      return try await simulator.answer(
        .get, "/inApps/v1/transactions/1", in: environment, authorization: simulator.caller.authorization(claims))
    }
    #expect(try await answer(nil).code == 4_000_002)
    #expect(try await answer("com.example.unknown").code == 4_040_003)
    #expect(try await answer("com.example.sandboxed").status == 401)
    #expect(try await answer("com.example.sandboxed", in: .sandbox).code == 4_040_010)
  }

  @Test func `the hourly limit ends in a 429 with the end of the hour in milliseconds`() async throws {
    let simulator = try SimulatorFixture {
      $0.limits = LimitSettings(perSecond: [.getTransactionInfo: 2.0 / 3_600])
      $0.callerGrace = .seconds(10)
    }
    let id = try simulator.buy()
    func ask() async throws -> APIAnswer { try await simulator.answer(.get, "/inApps/v1/transactions/\(id)") }
    for _ in 0..<2 { #expect(try await ask().status == 200) }
    let refused = try await ask()
    #expect(refused.status == 429)
    #expect(try refused.code == 4_290_000)
    #expect(refused.headers.first { $0.name == "Retry-After" }?.value == "1767229200000")
    #expect(simulator.breaches(.limitExceeded) == 1)
    #expect(simulator.breaches(.calledBeforeRetryAfter) == 0)
    try simulator.pass(.seconds(60))
    #expect(try await ask().status == 429)
    #expect(simulator.breaches(.calledBeforeRetryAfter) == 1)
    try simulator.pass(.seconds(3_540))
    #expect(try await ask().status == 200)
    let asked = try #require(simulator.services.report.asked.first)
    #expect(asked.byStatus == [200: 3, 429: 2])
    #expect(asked.fullestHours.first?.admitted == 2)
    #expect(asked.fullestHours.first?.limit == 2)
  }

  @Test func `the sandbox has a tenth of the limit and its own count`() async throws {
    let simulator = try SimulatorFixture { $0.limits = LimitSettings(perSecond: [.getTransactionInfo: 10.0 / 3_600]) }
    func status(_ environment: AppStoreEnvironment) async throws -> Int {
      try await simulator.answer(.get, "/inApps/v1/transactions/1", in: environment).status
    }
    #expect(try await status(.sandbox) == 404)
    #expect(try await status(.sandbox) == 429)
    for _ in 0..<10 { #expect(try await status(.production) == 404) }
    #expect(try await status(.production) == 429)
  }

  @Test func `an unknown path is refused and recorded`() async throws {
    let simulator = try SimulatorFixture()
    #expect(try await simulator.answer(.get, "/inApps/v9/x").status == 404)
    let wrong = try await simulator.answer(.delete, "/inApps/v1/lookup/M")
    #expect(wrong.status == 405)
    #expect(wrong.headers.first?.value == "GET")
    #expect(simulator.breaches(.unknownPath) == 2)
  }

  static let instead: [(effect: FaultEffect, status: Int)] = [
    (.failure(status: 503, body: .empty), 503), (.failure(status: 502, body: .html), 502),
    (.failure(status: 500, body: .json(code: 5_000_001, message: "later")), 500), (.unauthorized, 401),
    (.tooManyRequests(.milliseconds(from: .seconds(60))), 429),
  ]

  @Test(arguments: instead.indices)
  func `a fault instead of a response changes nothing`(index: Int) async throws {
    let (effect, status) = Self.instead[index]
    let simulator = try SimulatorFixture { $0.faults = [Fault(effect, count: 1)] }
    let id = try simulator.buy()
    let path = "/inApps/v1/subscriptions/extend/\(id)"
    #expect(try await simulator.answer(.put, path, body: Self.extend).status == status)
    #expect(simulator.sent(.renewalExtended).isEmpty)
    #expect(try await simulator.answer(.put, path, body: Self.extend).status == 200)
    #expect(simulator.sent(.renewalExtended).count == 1)
    #expect(simulator.services.report.asked.first?.struckByFaults == 1)
  }

  @Test func `a reset before the effect changes nothing`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.connectionReset)] }
    let id = try simulator.buy()
    #expect(try await simulator.send(.put, "/inApps/v1/subscriptions/extend/\(id)", body: Self.extend) == .reset)
    #expect(simulator.sent(.renewalExtended).isEmpty)
    #expect(simulator.services.report.asked.first?.withoutAnswer == 1)
  }

  @Test func `a response is lost after the effect, and the same request finds the effect`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.answerLost, count: 1)] }
    let id = try simulator.buy()
    let path = "/inApps/v1/subscriptions/extend/\(id)"
    #expect(try await simulator.send(.put, path, body: Self.extend) == .reset)
    #expect(simulator.sent(.renewalExtended).count == 1)
    #expect(try await simulator.answer(.put, path, body: Self.extend).status == 200)
    #expect(simulator.sent(.renewalExtended).count == 1)
  }

  @Test func `a truncated body is part of the real one`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.truncatedBody(share: 0.5))] }
    let id = try simulator.buy()
    let outcome = try await simulator.send(.put, "/inApps/v1/subscriptions/extend/\(id)", body: Self.extend)
    guard case .truncated(let answer, let bytes) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(bytes == answer.body.count / 2)
    #expect(simulator.sent(.renewalExtended).count == 1)
  }

  @Test func `an empty response cannot be truncated, so it is lost after the effect`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.truncatedBody(share: 1))] }
    let id = try simulator.buy()
    let outcome = try await simulator.send(
      .put, "/inApps/v1/transactions/\(id)/appAccountToken",
      body: ["appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"])
    #expect(outcome == .reset)
    #expect(simulator.world.withState { $0.transactions[id]?.appAccountToken } != nil)
    // A truncated body always lacks something.
    guard
      case .truncated(let answer, let bytes) = try await simulator.send(.get, "/inApps/v1/transactions/\(id)")
    else {
      Issue.record("not truncated")
      return
    }
    #expect(bytes == answer.body.count - 1)
  }

  @Test func `every key of an app is valid until it is revoked`() async throws {
    let (old, new, stranger) = (TestCaller(), TestCaller(keyId: "NEWKEY0001"), TestCaller(keyId: "STRANGER01"))
    func statuses(_ keys: [TestCaller]) async throws -> [Int] {
      let app = SimulatedApp(
        bundleId: old.bundleId, appAppleId: 1, credentials: keys.map(\.credentials), products: Rehearsal.app.products)
      let time = ManualClock(start: .newYear)
      let world = World(apps: [app], seed: 1, beginning: .newYear)
      let services = try APIServices(
        world: world, signer: try Rehearsal.signer(), settings: SimulatorSettings(), clock: time.clock)
      let id = try world.buy(Rehearsal.coins, at: .newYear)
      var statuses: [Int] = []
      for caller in [old, new, stranger] {
        let outcome = try await services.pipeline.respond(
          to: IncomingRequest(
            environment: .production, method: .get, path: "/inApps/v1/transactions/\(id)", query: [],
            authorization: try caller.authorization(now: .newYear), body: []))
        if case .answer(let answer) = outcome { statuses.append(answer.status) }
      }
      return statuses
    }
    #expect(try await statuses([old, new]) == [200, 200, 401])
    #expect(try await statuses([new]) == [401, 200, 401])
    // Two keys with the same identifier would be ambiguous.
    await #expect(throws: ScenarioError.self) { try await statuses([new, TestCaller(keyId: new.keyId)]) }
  }

  @Test func `latency passes on the clock`() async throws {
    let simulator = try SimulatorFixture { $0.faults = [Fault(.latency(.seconds(30)))] }
    async let answer = simulator.answer(.get, "/inApps/v1/transactions/1")
    await simulator.time.waitForSleepers()
    simulator.time.advance(by: .seconds(30))
    #expect(try await answer.status == 404)
    #expect(simulator.services.report.asked.first?.struckByFaults == 1)
  }

  @Test func `an outage applies from its start to its end`() async throws {
    let simulator = try SimulatorFixture()
    simulator.services.inject(
      Fault(
        .failure(status: 503, body: .html), from: simulator.now + .seconds(60), until: simulator.now + .seconds(120)))
    var statuses: [Int] = []
    for _ in 0..<3 {
      statuses.append(try await simulator.answer(.get, "/inApps/v1/transactions/1").status)
      try simulator.pass(.seconds(60))
    }
    #expect(statuses == [404, 503, 404])
  }

  @Test func `a 429 of a fault is binding like any other`() async throws {
    let simulator = try SimulatorFixture {
      $0.faults = [Fault(.tooManyRequests(.milliseconds(from: .seconds(600))), count: 1)]
    }
    _ = try await simulator.answer(.get, "/inApps/v1/transactions/1")
    try simulator.pass(.seconds(60))
    _ = try await simulator.answer(.get, "/inApps/v1/transactions/1")
    #expect(simulator.breaches(.calledBeforeRetryAfter) == 1)
    #expect(simulator.breaches(.limitExceeded) == 0)
  }

  @Test func `concurrent requests with the same identifier extend once`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<32 {
        group.addTask {
          try await simulator.answer(.put, "/inApps/v1/subscriptions/extend/\(id)", body: Self.extend).status
        }
      }
      for try await status in group { #expect(status == 200) }
    }
    #expect(simulator.sent(.renewalExtended).count == 1)
  }
}
