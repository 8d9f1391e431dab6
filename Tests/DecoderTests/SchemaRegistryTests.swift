import AppStore
import AppStoreServerAPI
import Foundation
import KafkaClient
import MillraceCore
import MillraceTesting
import Synchronization
import TestEnvironment
import Testing

@testable import Decoder

/// A registry that answers from memory.
private final class Registry: HTTPExchange {
  let requests = Mutex<[ExchangeRequest]>([])
  let answer: @Sendable (Int) -> ExchangeAnswer

  init(_ answer: @escaping @Sendable (Int) -> ExchangeAnswer) { self.answer = answer }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    answer(
      requests.withLock { requests in
        requests.append(request)
        return requests.count
      })
  }
}

@Suite struct SchemaRegistryTests {
  private func settings(_ change: (inout DecoderSettings) -> Void = { _ in }) -> DecoderSettings {
    var settings = DecoderSettings()
    settings.registryURL = "https://registry.example.com/"
    change(&settings)
    return settings
  }

  @Test func `the records name the schema that the registry has`() async throws {
    let registry = Registry { ExchangeAnswer(status: 200, body: Array(#"{"id":\#($0 * 300)}"#.utf8)) }
    var setup = WorkerHarness.Setup()
    setup.settings = settings()
    setup.appStore = registry
    try await WorkerHarness.run(DecoderWorker.self, setup) { harness in
      try await harness.receive(.didRenew)
      let record = try #require(await harness.records(in: DecoderWorker.notificationsTopic).first?.value)
      #expect(Array(record.prefix(5)) == [0, 0, 0, 1, 44])
      #expect(try JSONObject(parsing: Array(record.dropFirst(5)))["notificationType"] == "DID_RENEW")
      let token = try #require(await harness.records(in: DecoderWorker.transactionsTopic).first?.value)
      #expect(Array(token.prefix(5)) == [0, 0, 0, 2, 88])
    }
    let requests = registry.requests.withLock { $0 }
    #expect(
      requests.map(\.url) == [
        "https://registry.example.com/subjects/appstore.decoded.notifications-value/versions",
        "https://registry.example.com/subjects/appstore.decoded.transactions-value/versions",
      ])
    let body = try JSONObject(parsing: try #require(requests.first?.body))
    guard case .string(let schema)? = body["schema"] else { return #expect(Bool(false)) }
    #expect(try JSONObject(parsing: Array(schema.utf8)) == DecodedSchema.notifications)
  }

  @Test func `user and password are sent, and a refusal says what to check`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("secret", to: "password")
    let exchange = Registry { _ in ExchangeAnswer(status: 401, body: Array(#"{"message":"Unauthorized"}"#.utf8)) }
    let registry = try #require(
      try SchemaRegistry(
        settings {
          $0.registryUser = "user"
          $0.registryPasswordFile = file
        }, exchange))
    let error = await #expect(throws: MillraceError.self) { try await registry.register([:], for: "topic") }
    #expect(error?.description.contains("answered 401: Unauthorized") == true)
    #expect(error?.description.contains("schemaRegistry.user") == true)
    #expect(exchange.requests.withLock { $0.first?.headers["Authorization"] } == "Basic dXNlcjpzZWNyZXQ=")
  }

  @Test func `a user without a password or a registry is an error`() {
    let configuration = MillraceConfiguration()
    #expect(settings().problems(in: configuration).isEmpty)
    #expect(
      settings { $0.registryUser = "user" }.problems(in: configuration).map(\.place) == ["schemaRegistry.passwordFile"])
    #expect(
      settings { $0.registryURL = "https://user:secret@registry" }.problems(in: configuration).map(\.place)
        == ["schemaRegistry.url"])
  }
}
