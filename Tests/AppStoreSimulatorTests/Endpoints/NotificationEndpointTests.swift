import AppStore
import AppStoreSignature
import AppStoreSigning
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationEndpointTests {
  private static let history = "/inApps/v1/notifications/history"
  private static let test = "/inApps/v1/notifications/test"

  private func body(_ simulator: SimulatorFixture) -> JSONObject {
    [
      "startDate": .integer((simulator.now - .seconds(86_400)).millisecondsSince1970),
      "endDate": .integer((simulator.now + .seconds(1)).millisecondsSince1970),
    ]
  }

  private func items(_ json: JSONObject) throws -> [JSONObject] {
    guard case .array(let items) = json["notificationHistory"] else { throw UnexpectedOutcome(outcome: nil) }
    return items.compactMap { if case .object(let item) = $0 { item } else { nil } }
  }

  private func payload(_ item: JSONObject, _ simulator: SimulatorFixture) async throws -> ResponseBodyV2DecodedPayload {
    let token = try #require(item["signedPayload"].flatMap(String.init(jsonValue:)))
    return try await simulator.verifier.verifyNotification(
      Array(token.utf8), identity: .any
    ).payload
  }

  private func attempt(_ simulator: SimulatorFixture, _ sequence: Int64, _ result: SendAttemptResult) {
    simulator.world.withState { state in
      state.realms[simulator.production].log.update(sequence) {
        $0.attempts.append(SendAttempt(date: simulator.now, result: result))
      }
    }
  }

  @Test func `the history has everything that was sent, in pages of twenty with the same body`() async throws {
    let simulator = try SimulatorFixture()
    for _ in 0..<25 { try simulator.buy(SimulatorFixture.coins) }
    let body = body(simulator)
    let first = try await simulator.json(.post, Self.history, body: body)
    #expect(first["hasMore"] == true)
    let token = try #require(first["paginationToken"].flatMap(String.init(jsonValue:)))
    let second = try await simulator.json(.post, Self.history, query: [("paginationToken", token)], body: body)
    #expect(second["hasMore"] == false)
    var uuids: [String] = []
    for item in try items(first) + items(second) {
      uuids.append(try #require(try await payload(item, simulator).notificationUUID))
    }
    #expect(uuids == simulator.sent().map(\.facts.uuid.text))
    let other = try await simulator.answer(
      .post, Self.history, query: [("paginationToken", token)], body: body.with("onlyFailures", true))
    #expect(try other.code == 4_000_017)
    #expect(simulator.breaches(.pageQueryChanged) == 1)
  }

  @Test func `a pagination token expires, and a malformed one is invalid`() async throws {
    let simulator = try SimulatorFixture { $0.paginationTokenLifetime = .seconds(60) }
    try simulator.buy()
    let body = body(simulator)
    let json = try await simulator.json(.post, Self.history, body: body)
    let token = try #require(json["paginationToken"].flatMap(String.init(jsonValue:)))
    func code(_ token: String) async throws -> Int64? {
      try await simulator.answer(.post, Self.history, query: [("paginationToken", token)], body: body).code
    }
    #expect(try await code(token) == nil)
    try simulator.pass(.seconds(60))
    #expect(try await code(token) == 4_000_017)
    #expect(try await code("x") == 4_000_014)
  }

  @Test func `the token of an empty page finds later notifications, once`() async throws {
    let simulator = try SimulatorFixture()
    let body = body(simulator)
    var tokens: [String] = []
    for expected in [0, 1, 0] {
      let json = try await simulator.json(
        .post, Self.history, query: tokens.last.map { [("paginationToken", $0)] } ?? [], body: body)
      #expect(try items(json).count == expected)
      tokens.append(try #require(json["paginationToken"].flatMap(String.init(jsonValue:))))
      if expected == 0 { try simulator.pass(.milliseconds(1)) }
      if tokens.count == 1 { try simulator.buy() }
    }
  }

  @Test func `type, customer and failures are filters`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    try simulator.buy(SimulatorFixture.coins)
    attempt(simulator, 0, .success)
    attempt(simulator, 1, .timedOut)
    func count(_ key: String, _ value: JSON) async throws -> Int {
      try items(try await simulator.json(.post, Self.history, body: body(simulator).with(key, value))).count
    }
    #expect(try await count("notificationType", "SUBSCRIBED") == 1)
    #expect(try await count("notificationType", "REFUND") == 0)
    #expect(try await count("transactionId", .string(String(id))) == 1)
    #expect(try await count("onlyFailures", true) == 1)
    #expect(try await count("onlyFailures", false) == 2)
  }

  @Test func `a notification before its first attempt is not in the history`() async throws {
    let simulator = try SimulatorFixture()
    simulator.world.withState { $0.hasPostman = true }
    for _ in 0..<3 { try simulator.buy() }
    let body = body(simulator)
    #expect(try items(try await simulator.json(.post, Self.history, body: body)).isEmpty)
    attempt(simulator, 1, .timedOut)
    let found = try items(try await simulator.json(.post, Self.history, body: body))
    #expect(found.count == 1)
    let uuid = try #require(simulator.sent().dropFirst().first).facts.uuid.text
    #expect(try await payload(try #require(found.first), simulator).notificationUUID == uuid)
  }

  @Test func `a subtype alone is a filter too`() async throws {
    let simulator = try SimulatorFixture()
    try simulator.buy()
    try simulator.buy(SimulatorFixture.coins)
    let json = try await simulator.json(
      .post, Self.history, body: body(simulator).with("notificationSubtype", "INITIAL_BUY"))
    #expect(try items(json).count == 1)
  }

  @Test func `a test is requested and sent, and then its status is available`() async throws {
    let simulator = try SimulatorFixture()
    let json = try await simulator.json(.post, Self.test)
    let token = try #require(json["testNotificationToken"].flatMap(String.init(jsonValue:)))
    #expect(simulator.sent(.test).count == 1)
    #expect(try await simulator.answer(.get, "\(Self.test)/\(token)").code == 4_040_008)
    attempt(simulator, 0, .unsuccessfulHTTPResponseCode)
    attempt(simulator, 0, .success)
    let status = try await simulator.json(.get, "\(Self.test)/\(token)")
    let payload = try await payload(status, simulator)
    #expect(payload.notificationType == .test)
    #expect(
      status["sendAttempts"] == [
        [
          "attemptDate": .integer(simulator.now.millisecondsSince1970),
          "sendAttemptResult": "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
        ],
        ["attemptDate": .integer(simulator.now.millisecondsSince1970), "sendAttemptResult": "SUCCESS"],
      ])
    #expect(try await simulator.answer(.get, "\(Self.test)/\(token)", in: .sandbox).code == 4_040_008)
    // Get Test Notification Status: "for up to six months".
    try simulator.pass(.seconds(183 * 86_400) - .milliseconds(1))
    #expect(try await simulator.answer(.get, "\(Self.test)/\(token)").status == 200)
    try simulator.pass(.milliseconds(1))
    #expect(try await simulator.answer(.get, "\(Self.test)/\(token)").code == 4_040_008)
  }

  @Test(arguments: ["x", "_", "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11", "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11_x"])
  func `a malformed test token is invalid`(token: String) async throws {
    #expect(try await SimulatorFixture().answer(.get, "\(Self.test)/\(token)").code == 4_000_020)
  }

  @Test func `without a URL there is no test`() async throws {
    let simulator = try SimulatorFixture(reachable: [])
    #expect(try await simulator.answer(.post, Self.test).code == 4_040_007)
  }
}
