// Connects the API client to the simulated App Store Server API without sockets. Simulated faults look as they do on
// the wire.

internal import AppStore
package import AppStoreServerAPI
package import AppStoreSimulator
internal import Synchronization

/// An HTTP exchange that calls the simulator in the same process.
package final class SimulatedExchange: HTTPExchange {
  /// The base URL of production.
  package static let productionURL = "https://production.invalid"
  /// The base URL of the sandbox.
  package static let sandboxURL = "https://sandbox.invalid"

  private struct State {
    var asked: [String] = []
    var counts: [String: Int] = [:]
  }

  private let services: APIServices
  private let state = Mutex(State())

  /// Creates an exchange that reaches only these services.
  package init(_ services: APIServices) { self.services = services }

  /// The method, path and query of every call, in order.
  package var asked: [String] { state.withLock { $0.asked } }

  /// Returns the number of calls with this method and path, without the last path component. Example:
  /// `PUT /inApps/v1/subscriptions/extend`.
  package func calls(to place: String) -> Int { state.withLock { $0.counts[place, default: 0] } }

  package func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let isSandbox = request.url.hasPrefix(Self.sandboxURL)
    let target = request.url.dropFirst((isSandbox ? Self.sandboxURL : Self.productionURL).count)
    note("\(request.method.rawValue) \(target)")
    let outcome: CallOutcome?
    do {
      outcome = try await services.call(
        request.method.rawValue, target, authorization: request.headers["Authorization"], body: request.body ?? [],
        in: isSandbox ? .sandbox : .production)
    } catch {
      throw TransportFailure("cancelled", .unclear, isCancellation: true)
    }
    switch outcome {
    case .answer(let status, let headers, let body, let isComplete):
      return ExchangeAnswer(
        status: status, headers: APIHeaders(headers.map { APIHeaders.Field(name: $0.name, value: $0.value) }),
        body: body, isComplete: isComplete)
    case .reset: throw TransportFailure("the connection was reset", .unclear)
    case nil: throw TransportFailure("no request", .notSent)
    }
  }

  private func note(_ call: String) {
    let path = call.prefix { $0 != "?" }
    let place = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? String(path)
    state.withLock { state in
      state.asked.append(call)
      state.counts[place, default: 0] += 1
    }
  }
}
