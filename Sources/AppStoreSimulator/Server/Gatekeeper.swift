// The gate behind its lock.

internal import Synchronization

/// Holds a ``RequestGate`` for everybody. Taken before the world's lock where both are needed, never after it.
final class Gatekeeper: Sendable {
  private let gate: Mutex<RequestGate>

  init(_ settings: SimulatorSettings) { gate = Mutex(RequestGate(settings)) }

  /// Reads or changes the gate.
  func withGate<Result: Sendable, Failure: Error>(
    _ body: (inout RequestGate) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try gate.withLock { gate throws(Failure) in try body(&gate) }
  }
}
