internal import Dispatch

/// A thread of its own for the calls of librdkafka that block, so that none of them holds a thread of the
/// cooperative pool. Calls run one after the other in the order they were made.
final class BlockingThread: Sendable {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: "millrace.kafka.\(label)") }

  /// Runs `body` on the thread and returns what it returned.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` on the thread and passes on what it threw.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    try await run { () -> Result<Value, KafkaError> in
      do throws(KafkaError) { return .success(try body()) } catch { return .failure(error) }
    }.get()
  }

  /// Runs `body` on the thread some time later. For clean-up nobody waits for.
  func schedule(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }
}
