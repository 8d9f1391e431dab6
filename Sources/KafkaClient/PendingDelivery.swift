// The states of sends in flight: of single records and of batches.

internal import CRDKafka
internal import Synchronization

/// The outcome of one attempt to write a record.
enum DeliveryOutcome: Sendable {
  case acknowledged(RecordPosition)
  case failed(KafkaError)
}

/// The state of a send in flight, which librdkafka carries as the message's opaque pointer. It resumes the sender once.
final class PendingDelivery: Sendable {
  private let topic: String
  private let isTransactional: Bool
  /// Told of the end; nil for a send without a deadline.
  private let deadlines: SendDeadlines?
  private let done: Mutex<(@Sendable (DeliveryOutcome) -> Void)?>

  init(
    topic: String, isTransactional: Bool, deadlines: SendDeadlines? = nil,
    done: @escaping @Sendable (DeliveryOutcome) -> Void
  ) {
    self.topic = topic
    self.isTransactional = isTransactional
    self.deadlines = deadlines
    self.done = Mutex(done)
  }

  /// Finishes with a delivery report. Pass librdkafka's own message, because a copy does not have its status.
  func report(_ message: UnsafePointer<rd_kafka_message_t>) {
    let report = message.pointee
    if report.err == RD_KAFKA_RESP_ERR_NO_ERROR, report.offset >= 0 {
      finish(.acknowledged(RecordPosition(topic: topic, partition: report.partition, offset: report.offset)))
    } else if report.err == RD_KAFKA_RESP_ERR_NO_ERROR {
      finish(.failed(unconfirmed))
    } else {
      let isAbsent = rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED
      finish(.failed(failure(report.err, isAbsent ? .notPersisted : .possiblyPersisted)))
    }
  }

  /// The error of a success without an offset.
  ///
  /// After a timeout, librdkafka takes a record as written once a later one of the partition is acknowledged. That is
  /// wrong if the partition has no record of this producer yet: the broker then accepts any first sequence number.
  private var unconfirmed: KafkaError {
    KafkaError(
      code: .inDoubt, operation: "send to \(topic)",
      reason: "a later record was acknowledged, but no broker acknowledged this one", isRetriable: !isTransactional,
      requiresAbort: isTransactional, persistence: .possiblyPersisted)
  }

  private func failure(_ code: rd_kafka_resp_err_t, _ persistence: KafkaError.Persistence) -> KafkaError {
    var error = KafkaError(code, operation: "send to \(topic)")
    error.requiresAbort = isTransactional
    error.isRetriable = error.isRetriable && !isTransactional
    error.persistence = persistence
    return error
  }

  func finish(_ outcome: DeliveryOutcome) {
    let done = done.withLock { done in
      defer { done = nil }
      return done
    }
    deadlines?.remove(self)
    done?(outcome)
  }

  /// Resumes the sender at its deadline. librdkafka keeps the record and may still write it; a later report is ignored.
  func expire() { finish(.failed(failure(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, .possiblyPersisted))) }
}

/// Collects the outcomes of a batch of records.
final class BatchDelivery: Sendable {
  private struct State {
    var outcomes: [DeliveryOutcome?] = []
    var open = 0
    var isSealed = false
    var continuation: UnsafeContinuation<[DeliveryOutcome], Never>?
  }

  private let state: Mutex<State>

  init(_ continuation: UnsafeContinuation<[DeliveryOutcome], Never>) {
    state = Mutex(State(continuation: continuation))
  }

  /// Adds a record to the batch and returns its index.
  func open() -> Int {
    state.withLock { state in
      state.outcomes.append(nil)
      state.open += 1
      return state.outcomes.count - 1
    }
  }

  /// Removes the last record, which librdkafka did not accept.
  func withdraw(_ index: Int) {
    state.withLock { state in
      state.outcomes.removeSubrange(index...)
      state.open -= 1
    }
  }

  func settle(_ index: Int, _ outcome: DeliveryOutcome) {
    finish { state in
      guard state.outcomes.indices.contains(index), state.outcomes[index] == nil else { return }
      state.outcomes[index] = outcome
      state.open -= 1
    }
  }

  /// Marks the batch as complete: no more records follow.
  func seal() { finish { $0.isSealed = true } }

  private func finish(_ change: (inout State) -> Void) {
    let (continuation, outcomes) = state.withLock { state in
      change(&state)
      guard state.isSealed, state.open == 0 else {
        return (nil as UnsafeContinuation<[DeliveryOutcome], Never>?, [] as [DeliveryOutcome])
      }
      defer { state.continuation = nil }
      return (state.continuation, state.outcomes.compactMap { $0 })
    }
    continuation?.resume(returning: outcomes)
  }
}
