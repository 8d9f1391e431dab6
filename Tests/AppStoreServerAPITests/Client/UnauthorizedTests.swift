import AppStore
import Synchronization
import Testing

@testable import AppStoreServerAPI

@Suite struct UnauthorizedTests {
  private let fixture: APIFixture
  init() throws { fixture = try APIFixture() }

  private func keyId(_ request: ExchangeRequest) throws -> String {
    let header = try #require(request.token?.split(separator: ".").first)
    return String(decoding: try #require(Base64.decodeURL(Array(header.utf8))), as: UTF8.self)
  }

  @Test func `one 401 leads to a new token and the same bytes again`() async throws {
    let answer = ExchangeAnswer(status: 202)
    let exchange = ScriptedExchange { _, index in index == 0 ? ExchangeAnswer(status: 401) : answer }
    let client = try fixture.client(exchange)
    let request = ConsumptionRequest(customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
    let response = try await client.sendConsumptionInformation(APIFixture.transactionId, request, in: .sandbox)
    #expect(response.status == 202)
    let requests = exchange.requests
    #expect(requests.count == 2)
    #expect(requests[0].body == requests[1].body)
    #expect(requests[0].url == requests[1].url)
    #expect(requests[0].token != requests[1].token)
    // Other calls use the new token too.
    _ = try await client.finishTransaction(APIFixture.transactionId, in: .sandbox)
    #expect(exchange.requests.last?.token == requests[1].token)
  }

  @Test func `the budget knows whether Apple refuses the tokens`() async throws {
    let isRefused = Mutex(true)
    let exchange = ScriptedExchange { _, _ in ExchangeAnswer(status: isRefused.withLock { $0 } ? 401 : 202) }
    let budget = fixture.budget()
    let client = try fixture.client(exchange, budget: budget)
    func call() async throws { _ = try await client.finishTransaction(APIFixture.transactionId, in: .production) }
    await #expect(throws: APIError.self) { try await call() }
    #expect(budget.use().map(\.isRefused) == [true])
    isRefused.withLock { $0 = false }
    try await call()
    #expect(budget.use().map(\.isRefused) == [false])
  }

  @Test func `with two keys the second is tried, and kept if Apple accepts it`() async throws {
    let keys = try [APIFixture.key("REVOKED000"), APIFixture.key("CURRENT000")]
    let exchange = ScriptedExchange { request, _ in
      let header = request.token.map { String($0.split(separator: ".")[0]) } ?? ""
      let text = String(decoding: Base64.decodeURL(Array(header.utf8)) ?? [], as: UTF8.self)
      return ExchangeAnswer(status: text.contains("CURRENT000") ? 200 : 401)
    }
    let client = try fixture.client(exchange, keys: keys)
    for _ in 0..<3 { _ = try await client.finishTransaction(APIFixture.transactionId, in: .production) }
    #expect(exchange.requests.count == 4)
    #expect(try keyId(exchange.requests[0]).contains("REVOKED000"))
  }

  @Test func `until the first release, reads ask the sandbox after production's 401, which is shown first`()
    async throws
  {
    let answer = try fixture.transactionInfo(environment: .sandbox)
    let shown = Mutex<[APIError]>([])
    let exchange = ScriptedExchange { request, _ in
      request.url.contains("sandbox") ? answer : ExchangeAnswer(status: 401)
    }
    var asked = try fixture.client(exchange)
    asked.onUnreleased = { error in shown.withLock { $0.append(error) } }
    let client = asked
    let response = try await client.getTransactionInfo(APIFixture.transactionId)
    #expect(response.environment == .sandbox)
    #expect(shown.withLock { $0.map(\.environment) } == [.production])
    #expect(shown.withLock { $0.first?.description.contains("until the app's first release") } == true)
    // A named environment, a call with an effect, and a client that does not ask for it end with the 401.
    let quiet = try fixture.client(exchange)
    let named = await apiError { () async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
    }
    let effect = await apiError { () async throws(APIError) in
      try await client.finishTransaction(APIFixture.transactionId, in: .production)
    }
    let silent = await apiError { () async throws(APIError) in
      try await quiet.getTransactionInfo(APIFixture.transactionId)
    }
    #expect([named, effect, silent].allSatisfy { $0?.status == 401 })
    // If the sandbox does not know the transaction either, production's answer is the one to act on.
    let unknown = ScriptedExchange { request, _ in
      request.url.contains("sandbox") ? .error(4_040_010) : ExchangeAnswer(status: 401)
    }
    var asking = try fixture.client(unknown)
    asking.onUnreleased = { _ in }
    let copy = asking
    let error = await apiError { () async throws(APIError) in
      try await copy.getTransactionInfo(APIFixture.transactionId)
    }
    #expect(error?.status == 401 && error?.environment == .production)
  }

  @Test func `a web page with status 200 is not Apple's answer`() async throws {
    let page = ExchangeAnswer(
      status: 200, headers: ["Content-Type": "text/html"], body: Array("\n <html>login</html>".utf8))
    let client = try fixture.client(ScriptedExchange(answer: page))
    let error = await apiError { () async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
    }
    #expect(error?.description.contains("something between you and Apple answered") == true)
  }

  @Test func `a second 401 is an error with the possible causes, and there is no third attempt`() async throws {
    let exchange = ScriptedExchange(
      answer: ExchangeAnswer(status: 401, headers: ["Date": "Wed, 31 Dec 2025 23:50:00 GMT"]))
    let client = try fixture.client(exchange)
    let error = try #require(
      await apiError { () async throws(APIError) in
        try await client.finishTransaction(APIFixture.transactionId, in: .production)
      })
    #expect(exchange.requests.count == 2)
    guard case .unauthorized(let refusal) = error.kind else {
      Issue.record("\(error)")
      return
    }
    #expect(refusal.keyIds == ["KEY1234567"])
    #expect(refusal.clockAhead == .seconds(600))
    #expect(refusal.suspects.first == .clock)
    #expect(error.errorClass == .configuration)
    #expect(error.status == 401)
    #expect(!error.isUnclear)
    for word in ["KEY1234567", "600 s ahead", "issuer", APIFixture.bundleId] {
      #expect(error.description.contains(word), "\(word)")
    }
  }

  @Test func `after a 401, another error is returned as such`() async throws {
    let exchange = ScriptedExchange { _, index in index == 0 ? ExchangeAnswer(status: 401) : .error(4_040_001) }
    let client = try fixture.client(exchange)
    let error = await apiError { () async throws(APIError) in
      try await client.finishTransaction(APIFixture.transactionId, in: .production)
    }
    #expect(error?.code == .accountNotFound)
  }

  @Test func `the second attempt uses its own slot`() async throws {
    let exchange = ScriptedExchange { _, index in ExchangeAnswer(status: index == 0 ? 401 : 200) }
    let budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 5]))
    let client = try fixture.client(exchange, budget: budget)
    _ = try await client.finishTransaction(APIFixture.transactionId, in: .production)
    let key = BudgetKey(bundleId: APIFixture.bundleId, environment: .production, endpoint: .finishTransaction)
    var left = 0
    while budget.delay(for: key) == .zero {
      try await budget.acquire(key)
      left += 1
    }
    #expect(left == 2)
  }
}
