// Waiting in the simulated clients: for a value, or for a signal with a time limit.

internal import CSimulation

/// A value that arrives once. Later values are ignored.
final class Reply<Value: Sendable>: @unchecked Sendable {
  private var value: Value?
  private var continuation: CheckedContinuation<Value, Never>?

  func resolve(_ new: Value) {
    guard value == nil else { return }
    value = new
    continuation?.resume(returning: new)
    continuation = nil
  }

  func wait() async -> Value {
    if let value { return value }
    return await withCheckedContinuation { continuation in
      if let value { continuation.resume(returning: value) } else { self.continuation = continuation }
    }
  }
}

/// A signal for one waiting task. It is kept until the task waits.
final class Signal: @unchecked Sendable {
  private var isSet = false
  private var waiter: Reply<Void>?

  func set() {
    isSet = true
    waiter?.resolve(())
  }

  /// Returns when the signal was set, or after a time on the clock of the current process.
  func wait(atMost duration: Duration) async {
    if !isSet {
      let reply = Reply<Void>()
      waiter = reply
      Simulation.call(in: .current, after: duration) { reply.resolve(()) }
      await reply.wait()
      waiter = nil
    }
    isSet = false
  }
}

/// Waits in a simulated client. Cancelling the task does not end it.
func pause(_ duration: Duration) async {
  let reply = Reply<Void>()
  Simulation.call(in: .current, after: duration) { reply.resolve(()) }
  await reply.wait()
}

/// The time on the clock of the current process.
var processTime: Duration { .nanoseconds(Int64(simulation_time())) }
