// Makes requests wait while the circuit of their endpoint is open.

internal import KafkaClient
package import MillraceTime
internal import MillraceWorker
internal import Synchronization

/// The circuit of one endpoint, shared by all handlers of a worker in this process.
package final class CircuitGate: Sendable {
  private struct State {
    var circuit: Circuit
    /// The last failure.
    var cause: String?
    var lastWaiter: UInt64 = 0
    var waiters: [UInt64: AsyncSignal] = [:]
  }

  /// The circuit, for the readiness check and the metrics.
  package struct Status: Sendable, Hashable {
    /// Whether requests are held back.
    package var isOpen: Bool
    /// Whether the endpoint is misconfigured.
    package var isMisconfigured: Bool
    /// The number of handlers that wait.
    package var waiting: Int
    /// The last failure, while requests are held back.
    package var cause: String?
  }

  private let state: Mutex<State>
  private let clock: MillraceClock
  private let changed: @Sendable (Status) -> Void

  /// Creates a gate that lets requests through.
  /// - Parameter changed: Called after the circuit has opened or closed.
  package init(
    _ circuit: Circuit = Circuit(), clock: MillraceClock, changed: @escaping @Sendable (Status) -> Void = { _ in }
  ) {
    state = Mutex(State(circuit: circuit))
    self.clock = clock
    self.changed = changed
  }

  /// The circuit and the handlers that wait.
  package var status: Status {
    state.withLock {
      Status(
        isOpen: $0.circuit.isOpen, isMisconfigured: $0.circuit.isMisconfigured, waiting: $0.waiters.count,
        cause: $0.circuit.isOpen ? $0.cause : nil)
    }
  }

  /// Waits until the request of a record may be sent.
  ///
  /// - Parameter latest: The time after which the caller no longer has time for a request.
  /// - Returns: Nil if the request may be sent, and the caller reports its result; otherwise the time to ask again.
  /// - Throws: `CancellationError`.
  package func enter(_ record: String, until latest: Circuit.Instant) async throws -> Circuit.Instant? {
    while true {
      try Task.checkCancellation()
      let now = clock.now
      let signal = AsyncSignal()
      let (permission, waiter) = state.withLock { state -> (Circuit.Permission, UInt64) in
        let permission = state.circuit.ask(record, now: now)
        if case .wait = permission {
          state.lastWaiter += 1
          state.waiters[state.lastWaiter] = signal
        }
        return (permission, state.lastWaiter)
      }
      guard case .wait(let until) = permission else { return nil }
      if now < latest { await signal.wait(until: min(until, latest), on: clock) }
      state.withLock { $0.waiters[waiter] = nil }
      // A circuit that closed in the meantime lets the request through.
      if clock.now >= latest, state.withLock({ $0.circuit.isOpen }) { return max(until, latest) }
    }
  }

  /// Takes the result of a request that was let through.
  /// - Parameter cause: What happened, for the log of a failure.
  package func ended(_ record: String, _ result: Circuit.Result, because cause: String? = nil) {
    let now = clock.now
    let (awake, isChanged) = state.withLock { state -> ([AsyncSignal], Bool) in
      let (wasOpen, wasProbing) = (state.circuit.isOpen, state.circuit.isProbing)
      state.circuit.ended(record, result, now: now)
      if result == .failed || result == .misconfigured { state.cause = cause }
      let isChanged = state.circuit.isOpen != wasOpen
      // Handlers that wait for a probe ask again when it has ended, whatever its result is.
      guard !state.circuit.isOpen || (wasProbing && !state.circuit.isProbing) else { return ([], isChanged) }
      defer { state.waiters = [:] }
      return (Array(state.waiters.values), isChanged)
    }
    for waiter in awake { waiter.signal() }
    if isChanged { changed(status) }
  }
}
