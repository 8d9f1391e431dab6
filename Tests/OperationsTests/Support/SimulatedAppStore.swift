// The simulated App Store Server API without sockets. Tests can change its responses.

import AppStoreServerAPI
import AppStoreSimulator
import Synchronization
import TestSupport

/// Responds to the client's calls as the simulator does, with the test's interference before and after each call.
final class SimulatedAppStore: HTTPExchange {
  /// A test's actions before a call and on its response.
  struct Interference: Sendable {
    var before: @Sendable (_ call: Int) async throws(TransportFailure) -> Void = { _ in }
    var after: @Sendable (_ call: Int, ExchangeAnswer) -> ExchangeAnswer = { $1 }
  }

  private let exchange: SimulatedExchange
  private let state = Mutex((calls: 0, inFlight: 0, interference: Interference()))

  init(_ services: APIServices) { exchange = SimulatedExchange(services) }

  /// The number of calls so far.
  var calls: Int { state.withLock(\.calls) }
  /// The number of calls in progress.
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
    return interference.after(call, try await exchange.send(request))
  }
}
