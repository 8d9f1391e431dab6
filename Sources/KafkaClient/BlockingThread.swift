internal import Dispatch

/// A thread for blocking calls of librdkafka, so that they do not block threads of the cooperative pool. Calls run one
/// after the other, in the order in which they were made.
final class BlockingThread: Sendable {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: "millrace.kafka.\(label)") }

  /// Runs `body` on the thread and returns its result.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` on the thread and returns its result or throws its error.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    try await run { () -> Result<Value, KafkaError> in
      do throws(KafkaError) { return .success(try body()) } catch { return .failure(error) }
    }.get()
  }

  /// Runs `body` on the thread later, without waiting for it.
  func schedule(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }

  /// Runs `body` on the thread after a delay, in which other calls run.
  func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1))), execute: body)
  }
}
