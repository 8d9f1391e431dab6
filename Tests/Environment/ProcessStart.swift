// Keeps the start of processes apart from mock brokers that go down.

internal import Synchronization

/// A process that is being started holds the sockets of this process until its own program runs. librdkafka aborts this
/// process if one of them is the listener of a mock broker that goes down at that moment.
package enum ProcessStart {
  private static let lock = Mutex(())

  /// Starts a process, or takes a mock broker down, while nothing else does either.
  package static func alone(_ body: () throws -> Void) throws { try lock.withLock { _ in try body() } }
}
