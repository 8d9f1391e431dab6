// The simulated App Store Server API without sockets, and what a test does to its answers.

import AppStoreServerAPI
import AppStoreSimulator
import Synchronization
import TestSupport

/// Answers calls of the client as the simulator does, but for what a test does before and after.
final class SimulatedAppStore: HTTPExchange {
  /// What a test does before a call and to its answer.
  struct Interference: Sendable {
    var before: @Sendable (_ call: Int) async throws(TransportFailure) -> Void = { _ in }
    var after: @Sendable (_ call: Int, ExchangeAnswer) -> ExchangeAnswer = { $1 }
  }

  private let exchange: SimulatedExchange
  private let state = Mutex((calls: 0, inFlight: 0, interference: Interference()))

  init(_ services: APIServices) { exchange = SimulatedExchange(services) }

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
    return interference.after(call, try await exchange.send(request))
  }
}
