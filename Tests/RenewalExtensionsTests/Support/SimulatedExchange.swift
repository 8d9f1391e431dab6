// The simulated App Store Server API without sockets: requests go to its pipeline, faults come back as they would on the
// wire.

import AppStore
import AppStoreServerAPI
import HTTPTypes
import Synchronization

@testable import AppStoreSimulator

/// Calls the simulator as the client does.
final class SimulatedExchange: HTTPExchange {
  static let production = "https://production.invalid"
  static let sandbox = "https://sandbox.invalid"

  private let services: APIServices
  private let extensions = Mutex(0)

  init(_ services: APIServices) { self.services = services }

  /// Calls to Extend a Subscription Renewal Date so far.
  var extensionCalls: Int { extensions.withLock { $0 } }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let isSandbox = request.url.hasPrefix(Self.sandbox)
    let target = request.url.dropFirst((isSandbox ? Self.sandbox : Self.production).count)
    let parts = target.split(separator: "?", maxSplits: 1)
    guard let method = HTTPRequest.Method(request.method.rawValue), let path = parts.first else {
      throw TransportFailure("no request", .notSent)
    }
    if method == .put, path.contains("/subscriptions/extend/") { extensions.withLock { $0 += 1 } }
    let incoming = IncomingRequest(
      environment: isSandbox ? .sandbox : .production, method: method, path: String(path),
      query: parts.dropFirst().first.map(Self.query) ?? [], authorization: request.headers["Authorization"],
      body: request.body ?? [])
    let outcome: WireOutcome
    do {
      outcome = try await services.pipeline.respond(to: incoming)
    } catch {
      throw TransportFailure("cancelled", .unclear, isCancellation: true)
    }
    switch outcome {
    case .answer(let answer): return Self.answer(answer, bytes: answer.body.count)
    case .truncated(let answer, let bytes): return Self.answer(answer, bytes: bytes)
    case .reset: throw TransportFailure("the connection was reset", .unclear)
    }
  }

  private static func query(_ text: Substring) -> [(name: String, value: String)] {
    text.split(separator: "&").map { item in
      let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
      return (pair.first ?? "", pair.count > 1 ? pair[1] : "")
    }
  }

  private static func answer(_ answer: APIAnswer, bytes: Int) -> ExchangeAnswer {
    ExchangeAnswer(
      status: answer.status,
      headers: APIHeaders(answer.headers.map { APIHeaders.Field(name: $0.name, value: $0.value) }),
      body: Array(answer.body.prefix(bytes)), isComplete: bytes == answer.body.count)
  }
}
