// The simulated App Store Server API without sockets, and what a test does to its answers.

import AppStore
import AppStoreServerAPI
import HTTPTypes
import Synchronization

@testable import AppStoreSimulator

/// Answers calls of the client by the simulator's own pipeline.
final class SimulatedAppStore: HTTPExchange {
  static let production = "https://production.invalid"
  static let sandbox = "https://sandbox.invalid"

  /// What a test does before a call and to its answer.
  struct Interference: Sendable {
    var before: @Sendable (_ call: Int) async throws(TransportFailure) -> Void = { _ in }
    var after: @Sendable (_ call: Int, ExchangeAnswer) -> ExchangeAnswer = { $1 }
  }

  private let services: APIServices
  private let state = Mutex((calls: 0, inFlight: 0, interference: Interference()))

  init(_ services: APIServices) { self.services = services }

  /// Calls so far.
  var calls: Int { state.withLock(\.calls) }
  /// Calls that are being answered.
  var inFlight: Int { state.withLock(\.inFlight) }

  func interfere(_ change: (inout Interference) -> Void) { state.withLock { change(&$0.interference) } }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let (call, interference) = state.withLock { state in
      state.calls += 1
      state.inFlight += 1
      return (state.calls, state.interference)
    }
    defer { state.withLock { $0.inFlight -= 1 } }
    try await interference.before(call)
    return interference.after(call, try await answer(request))
  }

  private func answer(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let isSandbox = request.url.hasPrefix(Self.sandbox)
    let parts = request.url.dropFirst((isSandbox ? Self.sandbox : Self.production).count).split(
      separator: "?", maxSplits: 1)
    guard let method = HTTPRequest.Method(request.method.rawValue), let path = parts.first else {
      throw TransportFailure("no request", .notSent)
    }
    let query = parts.dropFirst().first?.split(separator: "&").map { item in
      let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
      return (name: pair[0], value: pair.count > 1 ? pair[1] : "")
    }
    let incoming = IncomingRequest(
      environment: isSandbox ? .sandbox : .production, method: method, path: String(path), query: query ?? [],
      authorization: request.headers["Authorization"], body: request.body ?? [])
    let outcome: WireOutcome
    do {
      outcome = try await services.pipeline.respond(to: incoming)
    } catch {
      throw TransportFailure("cancelled", .unclear, isCancellation: true)
    }
    guard case .answer(let answer) = outcome else { throw TransportFailure("the connection was reset", .unclear) }
    return ExchangeAnswer(
      status: answer.status,
      headers: APIHeaders(answer.headers.map { APIHeaders.Field(name: $0.name, value: $0.value) }), body: answer.body)
  }
}
