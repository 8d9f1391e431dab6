internal import Synchronization

/// The state of a commit in flight, which librdkafka carries as an opaque pointer. It resumes the committing task once.
final class PendingCommit: Sendable {
  private let continuation: Mutex<UnsafeContinuation<Result<Void, KafkaError>, Never>?>

  init(_ continuation: UnsafeContinuation<Result<Void, KafkaError>, Never>) {
    self.continuation = Mutex(continuation)
  }

  func finish(_ result: Result<Void, KafkaError>) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: result)
  }
}

extension KafkaError {
  static var closedConsumer: KafkaError {
    KafkaError(code: .closed, operation: "commit", reason: "the consumer has left its group")
  }
}
