// Ends the wait for calls of librdkafka that do not return.

internal import Synchronization

/// Blocking calls that have a time limit of ours. librdkafka 2.16.0 was seen to stay in
/// `rd_kafka_send_offsets_to_transaction` for over a minute, although it was given a limit of five seconds.
///
/// A call cannot be cancelled, so its thread is lost, and with it the client. Its owner continues with another client.
final class LimitedCalls: Sendable {
  private struct State {
    var waits: [UInt64: (deadline: ContinuousClock.Instant, giveUp: @Sendable () -> Void)] = [:]
    var last: UInt64 = 0
    var isStuck = false
  }

  private let state = Mutex(State())

  /// Whether a call did not return in time.
  var isStuck: Bool { state.withLock(\.isStuck) }

  /// Makes a blocking call on a thread, and waits for its result.
  /// - Parameter limit: The longest wait, also for calls before it. ``endWaits(at:)`` ends the wait.
  /// - Throws: The error of `body`; a fatal ``KafkaError`` with code `timedOut` if this call, or one before it, does not
  ///   return.
  func run<Value: Sendable>(
    _ operation: String, within limit: Duration, on thread: BlockingThread,
    _ body: @escaping @Sendable () throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    let stuck = KafkaError(
      code: .timedOut, operation: operation, reason: "librdkafka did not return within \(limit)", isFatal: true)
    return try await withCheckedContinuation { (waiter: CheckedContinuation<Result<Value, KafkaError>, Never>) in
      let number = state.withLock { state -> UInt64? in
        guard !state.isStuck else { return nil }
        state.last += 1
        state.waits[state.last] = (
          ContinuousClock.now + limit, { @Sendable in waiter.resume(returning: .failure(stuck)) }
        )
        return state.last
      }
      guard let number else { return waiter.resume(returning: .failure(stuck)) }
      thread.schedule { [self] in
        let result: Result<Value, KafkaError>
        do throws(KafkaError) { result = .success(try body()) } catch { result = .failure(error) }
        let isAwaited = state.withLock { $0.waits.removeValue(forKey: number) != nil }
        if isAwaited { waiter.resume(returning: result) }
      }
    }.get()
  }

  /// Ends the waits whose limit has passed. Call it about once a second.
  func endWaits(at now: ContinuousClock.Instant) {
    let ended = state.withLock { state in
      let ended = state.waits.filter { $0.value.deadline <= now }
      for number in ended.keys { state.waits[number] = nil }
      state.isStuck = state.isStuck || !ended.isEmpty
      return ended.values.map(\.giveUp)
    }
    for giveUp in ended { giveUp() }
  }
}
