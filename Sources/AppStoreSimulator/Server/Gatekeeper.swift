// Guards a ``RequestGate`` with a lock.

internal import Synchronization

/// Shares a ``RequestGate``. Code that needs this lock and the world's lock takes this one first.
final class Gatekeeper: Sendable {
  private let gate: Mutex<RequestGate>

  init(_ settings: SimulatorSettings) { gate = Mutex(RequestGate(settings)) }

  /// Reads or changes the gate while holding the lock.
  func withGate<Result: Sendable, Failure: Error>(
    _ body: (inout RequestGate) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try gate.withLock { gate throws(Failure) in try body(&gate) }
  }
}
