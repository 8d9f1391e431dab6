import AppStore
import Testing

@testable import AppStoreServerAPI

@Suite struct EnvironmentTests {
  private let fixture: APIFixture
  init() throws { fixture = try APIFixture() }

  private func isProduction(_ request: ExchangeRequest) -> Bool {
    request.url.hasPrefix("https://api.storekit.apple.com/")
  }

  /// Production does not know the transaction, but the sandbox does.
  private func sandboxOnly() throws -> ScriptedExchange {
    let sandbox = try fixture.transactionInfo(environment: .sandbox)
    return ScriptedExchange { request, _ in
      request.url.hasPrefix("https://api.storekit-sandbox.apple.com/") ? sandbox : .error(4_040_010)
    }
  }

  @Test func `an unknown environment means production first, then the sandbox`() async throws {
    let exchange = try sandboxOnly()
    let response = try await fixture.client(exchange).getTransactionInfo(APIFixture.transactionId)
    #expect(response.environment == .sandbox)
    #expect(response.value.payload.environment == .sandbox)
    #expect(exchange.requests.map(isProduction) == [true, false])
  }

  @Test func `a transaction in production is not looked up in the sandbox`() async throws {
    let exchange = ScriptedExchange(answer: try fixture.transactionInfo())
    let response = try await fixture.client(exchange).getTransactionInfo(APIFixture.transactionId)
    #expect(response.environment == .production)
    #expect(exchange.requests.map(isProduction) == [true])
  }

  @Test func `only a given environment is asked`() async throws {
    let exchange = try sandboxOnly()
    let client = try fixture.client(exchange)
    let error = await apiError { () async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
    }
    #expect(error?.code == .transactionIdNotFound)
    #expect(exchange.requests.map(isProduction) == [true])
  }

  @Test func `an app with one environment is looked up only there`() async throws {
    let exchange = try sandboxOnly()
    let client = try fixture.client(exchange, environments: [.sandbox])
    #expect(try await client.getTransactionInfo(APIFixture.transactionId).environment == .sandbox)
    #expect(exchange.requests.map(isProduction) == [false])
  }

  @Test func `the error for a transaction in neither environment names both`() async throws {
    let exchange = ScriptedExchange(answer: .error(4_040_010))
    let client = try fixture.client(exchange)
    let error = try #require(
      await apiError { () async throws(APIError) in try await client.getTransactionInfo(APIFixture.transactionId) })
    #expect(error.code == .transactionIdNotFound)
    #expect(error.alsoAsked == [.production])
    #expect(error.environment == .sandbox)
    #expect(error.description.contains("Production and Sandbox"))
    #expect(exchange.requests.map(isProduction) == [true, false])
  }

  @Test(arguments: [4_040_001, 4_040_005, 4_290_000, 5_000_000, 4_010_000] as [Int64])
  func `no other error leads to the sandbox`(code: Int64) async throws {
    let exchange = ScriptedExchange(answer: .error(code))
    let client = try fixture.client(exchange)
    let error = await apiError { () async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId)
    }
    #expect(error?.status == Int(code / 10_000))
    #expect(exchange.requests.allSatisfy(isProduction))
  }
}
