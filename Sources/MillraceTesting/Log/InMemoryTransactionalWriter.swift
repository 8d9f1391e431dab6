// A transactional producer on the in-memory log.

internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

final class InMemoryTransactionalWriter: TransactionalLogWriter {
  private let host: BrokerHost
  private let process: ProcessID
  private let id: String
  private let transactionTimeout: Duration
  private let gate = WriterGate()
  private let phase = Mutex(Phase.uninitialized)
  private let isUnanswered = Atomic(false)

  var hasUnansweredRequest: Bool { isUnanswered.load(ordering: .sequentiallyConsistent) }

  /// The state of this producer. The log itself knows only records, offsets and markers.
  private enum Phase: Sendable {
    case uninitialized
    case ready(ProducerEpoch)
    case open(ProducerEpoch)
    /// Only an abort is possible.
    case doomed(ProducerEpoch, KafkaError)
    /// The commit was applied but its response was lost. The caller repeats the call.
    case committed(ProducerEpoch)
    /// The abort was applied but its response was lost. The caller repeats the call.
    case aborted(ProducerEpoch)
    /// The commit was applied, but the caller was told to abort.
    case unclear(ProducerEpoch)
    case over(KafkaError)
  }

  init(host: BrokerHost, process: ProcessID, id: String, transactionTimeout: Duration) {
    self.host = host
    self.process = process
    self.id = id
    self.transactionTimeout = transactionTimeout
  }

  func run() async throws(KafkaError) {
    await withTaskCancellationHandler {
      await gate.drained()
    } onCancel: {
      gate.close()
    }
    if case .over(let error) = phase.withLock({ $0 }) { throw error }
  }

  func shutDown() { gate.close() }
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}

  func initialize(timeout: Duration) async throws(KafkaError) {
    let operation = "initialize transactions of \(id)"
    guard case .uninitialized = phase.withLock({ $0 }) else { throw .misuse(operation, "it is already initialized") }
    let id = id
    let epoch = try await host.request(.initialize, topic: nil, of: process, operation) { broker, _ in
      broker.initializeProducer(id)
    }
    phase.withLock { $0 = .ready(epoch) }
  }

  func begin() async throws(KafkaError) {
    let operation = "begin a transaction of \(id)"
    let failure: KafkaError? = phase.withLock { phase in
      switch phase {
      case .ready(let epoch):
        phase = .open(epoch)
        return nil
      case .over(let error): return error
      case .uninitialized: return .misuse(operation, "the producer is not initialized; call initialize first")
      case .open, .doomed, .committed, .aborted, .unclear: return .misuse(operation, "a transaction is open")
      }
    }
    if let failure { throw failure }
  }

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    let operation = "send to \(record.topic)"
    try gate.enter(operation)
    defer { gate.exit() }
    let epoch = try open(operation)
    let time = host.time
    return try await dooming { () async throws(KafkaError) in
      try await self.host.request(
        .send, topic: record.topic, of: self.process, operation, unanswered: self.noteUnanswered
      ) { broker, now throws(KafkaError) in
        try broker.append(record, by: epoch, deadline: now + self.transactionTimeout, time: time)
      }
    }
  }

  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    let operation = "send offsets to the transaction of \(id)"
    let epoch = try open(operation)
    guard let membership = Membership(group) else {
      throw KafkaError(
        code: .invalidConfiguration, operation: operation, reason: "the group metadata belongs to another log")
    }
    try await dooming { () async throws(KafkaError) in
      try await self.host.request(
        .sendOffsets, topic: offsets.first?.partition.topic, of: self.process, operation,
        unanswered: self.noteUnanswered
      ) { broker, now throws(KafkaError) in
        try broker.addOffsets(
          offsets, of: membership, by: epoch, deadline: now + self.transactionTimeout)
      }
    }
  }

  func commit(timeout: Duration) async throws(KafkaError) {
    let operation = "commit the transaction of \(id)"
    let epoch: ProducerEpoch
    switch phase.withLock({ $0 }) {
    case .open(let open): epoch = open
    case .committed(let done): return phase.withLock { $0 = .ready(done) }
    case .doomed(_, let error), .over(let error): throw error
    case .aborted, .unclear: throw .misuse(operation, "an abort has started; call abort again")
    case .uninitialized, .ready: throw .misuse(operation, "no transaction is open")
    }
    try await end(epoch, isCommitted: true, .commitTransaction, operation)
  }

  func abort(timeout: Duration) async throws(KafkaError) {
    let operation = "abort the transaction of \(id)"
    let epoch: ProducerEpoch
    switch phase.withLock({ $0 }) {
    case .open(let open), .doomed(let open, _): epoch = open
    case .aborted(let done): return phase.withLock { $0 = .ready(done) }
    case .unclear:
      let error = KafkaError.transactionHasEnded(operation)
      phase.withLock { $0 = .over(error) }
      throw error
    case .over(let error): throw error
    case .committed: throw .misuse(operation, "a commit has started; call commit again")
    case .uninitialized, .ready: throw .misuse(operation, "no transaction is open")
    }
    try await end(epoch, isCommitted: false, .abortTransaction, operation)
  }

  // MARK: - Pieces

  private func noteUnanswered() { isUnanswered.store(true, ordering: .sequentiallyConsistent) }

  private func end(
    _ epoch: ProducerEpoch, isCommitted: Bool, _ kind: LogOperation, _ operation: String
  ) async throws(KafkaError) {
    let hasEnded = Atomic(false)
    do throws(KafkaError) {
      try await host.request(kind, topic: nil, of: process, operation, unanswered: noteUnanswered) {
        broker, _ throws(KafkaError) in
        try broker.end(epoch, isCommitted: isCommitted, operation)
        hasEnded.store(true, ordering: .relaxed)
      }
      phase.withLock { $0 = .ready(epoch) }
    } catch {
      if hasEnded.load(ordering: .relaxed), isCommitted, error.requiresAbort {
        phase.withLock { $0 = .unclear(epoch) }
      } else if hasEnded.load(ordering: .relaxed), !error.isFatal {
        phase.withLock { $0 = isCommitted ? .committed(epoch) : .aborted(epoch) }
      } else if error.isFatal {
        phase.withLock { $0 = .over(error) }
      } else if error.requiresAbort {
        phase.withLock { $0 = .doomed(epoch, error) }
      }
      throw error
    }
  }

  private func open(_ operation: String) throws(KafkaError) -> ProducerEpoch {
    switch phase.withLock({ $0 }) {
    case .open(let epoch): return epoch
    case .doomed(_, let error), .over(let error): throw error
    case .uninitialized, .ready, .committed, .aborted, .unclear: throw .misuse(operation, "no transaction is open")
    }
  }

  /// If a record or an offset fails, the transaction can only be aborted. A fatal error ends the producer.
  private func dooming<Value: Sendable>(
    _ body: @Sendable () async throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    do throws(KafkaError) {
      return try await body()
    } catch {
      // An oversized record was never part of the transaction.
      if error.code == .messageTooLarge { throw error }
      let error = error.dooming
      phase.withLock { phase in
        if error.isFatal {
          phase = .over(error)
        } else if case .open(let epoch) = phase {
          phase = .doomed(epoch, error)
        }
      }
      throw error
    }
  }
}
