// Transactions on the log in memory, as one instance of a producer sees them.

internal import Kafka
internal import Millrace
internal import Synchronization

final class InMemoryTransactionalWriter: TransactionalLogWriter {
  private let host: BrokerHost
  private let process: ProcessID
  private let id: String
  private let transactionTimeout: Duration
  private let gate = WriterGate()
  private let phase = Mutex(Phase.uninitialized)

  /// What this instance is doing; the log knows only records, offsets and markers.
  private enum Phase: Sendable {
    case uninitialized
    case ready(ProducerEpoch)
    case open(ProducerEpoch)
    /// Only an abort is admitted.
    case doomed(ProducerEpoch, KafkaError)
    /// The answer to a commit was lost: the call is made again.
    case committed(ProducerEpoch)
    /// The same of an abort.
    case aborted(ProducerEpoch)
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
    guard case .uninitialized = phase.withLock({ $0 }) else { throw .misuse(operation, "it is initialized already") }
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
      case .uninitialized: return .misuse(operation, "initialize comes first")
      case .open, .doomed, .committed, .aborted: return .misuse(operation, "a transaction is open")
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
      try await self.host.request(.send, topic: record.topic, of: self.process, operation) {
        broker, now throws(KafkaError) in
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
        code: .invalidConfiguration, operation: operation, reason: "the group's metadata is of another log")
    }
    try await dooming { () async throws(KafkaError) in
      try await self.host.request(.sendOffsets, topic: offsets.first?.partition.topic, of: self.process, operation) {
        broker, now throws(KafkaError) in
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
    case .aborted: throw .misuse(operation, "an abort was begun")
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
    case .over(let error): throw error
    case .committed: throw .misuse(operation, "a commit was begun")
    case .uninitialized, .ready: throw .misuse(operation, "no transaction is open")
    }
    try await end(epoch, isCommitted: false, .abortTransaction, operation)
  }

  // MARK: - Pieces

  private func end(
    _ epoch: ProducerEpoch, isCommitted: Bool, _ kind: LogOperation, _ operation: String
  ) async throws(KafkaError) {
    let hasEnded = Atomic(false)
    do throws(KafkaError) {
      try await host.request(kind, topic: nil, of: process, operation) { broker, _ throws(KafkaError) in
        try broker.end(epoch, isCommitted: isCommitted, operation)
        hasEnded.store(true, ordering: .relaxed)
      }
      phase.withLock { $0 = .ready(epoch) }
    } catch {
      if hasEnded.load(ordering: .relaxed), !error.isFatal {
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
    case .uninitialized, .ready, .committed, .aborted: throw .misuse(operation, "no transaction is open")
    }
  }

  /// A record or offset that failed dooms its transaction; a fatal error ends the producer.
  private func dooming<Value: Sendable>(
    _ body: @Sendable () async throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    do throws(KafkaError) {
      return try await body()
    } catch {
      // One that was refused for its size was never part of the transaction.
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
