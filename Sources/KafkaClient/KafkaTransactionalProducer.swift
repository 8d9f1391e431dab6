internal import CRDKafka
internal import Synchronization

/// Writes records to any number of partitions, and a group's offsets, so that readers with `read_committed` see all of
/// them or none.
///
/// ```swift
/// try await producer.initialize(timeout: .seconds(60))    // once; fences older instances of the id
/// try await producer.begin()
/// let position = try await producer.send(record)          // any number, concurrently
/// try await producer.sendOffsets(offsets, group: try await consumer.groupMetadata(), timeout: .seconds(10))
/// try await producer.commit(timeout: .seconds(10))
/// ```
///
/// ``KafkaError/transactionRemedy`` of an error says whether to repeat the call, abort, or give up. Apart from sends,
/// make one call at a time. All calls need a running ``run()``. See librdkafka's "Transactional producer API".
///
/// Once ``hasUnansweredRequest`` is true, end the open transaction, and begin the next one with another producer of the
/// same id. Otherwise a late copy of the request can tear that transaction (KIP-890).
///
/// A call that librdkafka does not end within its time limit and 15 s fails with a fatal error (`timedOut`), and so do all
/// later ones. Continue with another producer of the same id.
public final class KafkaTransactionalProducer: Sendable {
  /// The name that successive instances of this producer share. Brokers let only the newest instance write.
  public let transactionalID: String

  private let producer: KafkaProducer
  /// Whether a transaction is open that no call has begun to commit or abort. Used only on the thread of blocking calls.
  private let isOpen = Mutex(false)
  private let requests = UnansweredRequests()
  private let calls = LimitedCalls()

  /// Whether a transactional request ended without an answer: its connection broke, or it timed out. A broker may receive
  /// it later and apply it to another transaction of this producer. Only a newer producer of the same id fences it.
  public var hasUnansweredRequest: Bool {
    (requests.count > 0 || calls.isStuck) && !Self.ignoresUnansweredRequests.load(ordering: .relaxed)
  }

  private static let ignoresUnansweredRequests = Atomic(false)

  /// Makes the producers of this process act as if every request were answered, for a scenario that must then fail.
  package static func ignoreUnansweredRequests() { ignoresUnansweredRequests.store(true, ordering: .relaxed) }

  /// Creates a client without waiting for a connection.
  /// - Parameters:
  ///   - transactionalID: A name that is not empty, stays the same across restarts, and differs between concurrent
  ///     processes.
  ///   - transactionTimeout: How long a transaction may stay open before the broker aborts it
  ///     (`transaction.timeout.ms`); at least a second, at most the broker's `transaction.max.timeout.ms`.
  ///   - sendTimeout: The time limit for a send; reduced to `transactionTimeout` if longer.
  ///   - observer: Receives logs, errors and statistics.
  /// - Throws: ``KafkaError`` with code `invalidConfiguration`.
  public init(
    _ configuration: KafkaConfiguration, transactionalID: String, transactionTimeout: Duration = .seconds(60),
    sendTimeout: Duration = .seconds(30), observer: ClientObserver = ClientObserver()
  ) throws(KafkaError) {
    guard !transactionalID.isEmpty else {
      throw KafkaError(
        code: .invalidConfiguration, operation: "configure \(configuration.clientID)",
        reason: "a transactional producer needs a transactional id")
    }
    self.transactionalID = transactionalID
    producer = try KafkaProducer(
      configuration,
      properties: try configuration.transactionalProperties(id: transactionalID, timeout: transactionTimeout),
      sendTimeout: min(sendTimeout, transactionTimeout), observer: observer, requests: requests, calls: calls)
  }

  /// Serves delivery reports until ``shutDown()`` was called and every send has its outcome. Cancelling the task purges
  /// the queue.
  /// - Throws: The fatal error that ended the client, if there was one.
  public func run() async throws(KafkaError) { try await producer.run() }

  /// Stops accepting records. End the open transaction first: otherwise it blocks readers until a newer instance
  /// initializes or the transaction times out.
  public func shutDown() { producer.shutDown() }

  /// Fetches the metadata of topics, like ``KafkaProducer/prepare(_:timeout:)``.
  public func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    try await producer.prepare(topics, timeout: timeout)
  }

  /// Takes over the transactional id: fences older instances and aborts their open transactions. Call it once, before
  /// any other call.
  public func initialize(timeout: Duration) async throws(KafkaError) {
    try await call("initialize transactions", limit: timeout) { rk in
      rd_kafka_init_transactions(rk, timeout.boundedMilliseconds)
    }
  }

  /// Opens a transaction. It sends no request.
  public func begin() async throws(KafkaError) {
    try await call("begin a transaction") { rk in
      let error = rd_kafka_begin_transaction(rk)
      if error == nil { self.isOpen.withLock { $0 = true } }
      return error
    }
  }

  /// Writes one record inside the open transaction and returns its position once all in-sync replicas have it.
  /// - Throws: ``KafkaError``. If an accepted record fails, the transaction must be aborted. A record that is refused
  ///   at once, for example because it is too large, does not affect the transaction.
  public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    do throws(KafkaError) {
      return try await producer.send(record)
    } catch {
      throw await judged(error, sending: [record])
    }
  }

  /// Writes records in order inside the open transaction; see ``KafkaProducer/send(contentsOf:)``.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    do throws(KafkaError) {
      return try await producer.send(contentsOf: records)
    } catch {
      throw await judged(error, sending: records)
    }
  }

  /// Adds offsets of a consumer group to the open transaction, which commits them or not.
  /// - Throws: ``KafkaError``; it requires an abort if the generation of `group` is old.
  public func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    try await call("send offsets to the transaction", limit: timeout) { rk throws(KafkaError) in
      let list = TopicPartitionList(offsets)
      return try group.withNative { native in
        rd_kafka_send_offsets_to_transaction(rk, list.native, native, timeout.boundedMilliseconds)
      }
    }
  }

  /// Commits the transaction, after every record of it is acknowledged.
  ///
  /// After a timeout the commit continues in the background. Call it again until the result is known; there is no other
  /// way to learn the result.
  public func commit(timeout: Duration) async throws(KafkaError) {
    try await call("commit the transaction", limit: timeout) { rk in
      self.isOpen.withLock { $0 = false }
      return rd_kafka_commit_transaction(rk, timeout.boundedMilliseconds)
    }
  }

  /// Aborts the open transaction. Sends that are still in flight fail with `purged` or `inDoubt`. If a broker refused a
  /// record, the next transaction may have to be aborted too: only then does librdkafka request a new epoch.
  public func abort(timeout: Duration) async throws(KafkaError) {
    try await call("abort the transaction", limit: timeout) { rk in
      self.isOpen.withLock { $0 = false }
      return rd_kafka_abort_transaction(rk, timeout.boundedMilliseconds)
    }
  }

  /// Returns the error that a caller of `send` can act on. If a broker refuses a partition, librdkafka fails the
  /// transaction and withdraws its records, which then only say so.
  private func judged(_ error: KafkaError, sending records: [ProducerRecord]) async -> KafkaError {
    let error = judged(error)
    guard error.code == .purged, !error.isFatal, let cause = await reasonToAbort() else { return error }
    let topics = Set(records.map(\.topic)).sorted().joined(separator: ", ")
    return KafkaError(code: cause.code, operation: "send to \(topics)", reason: cause.reason, requiresAbort: true)
  }

  /// Returns the error for which the open transaction must be aborted; nil if there is none.
  private func reasonToAbort() async -> KafkaError? {
    do throws(KafkaError) {
      try await call("send") { rk in
        // In a transaction this call only fails, with the reason if the transaction has failed. Without one it would begin
        // one.
        self.isOpen.withLock { $0 } ? rd_kafka_begin_transaction(rk) : nil
      }
      return nil
    } catch {
      return error.requiresAbort ? error : nil
    }
  }

  /// The time that a call may take beyond the limit that it was given, and the calls before it with it.
  private static let callGrace = Duration.seconds(15)

  /// - Parameter limit: The limit that librdkafka is given; zero for calls that send no request.
  private func call(
    _ operation: String, limit: Duration = .zero,
    _ body: @escaping @Sendable (OpaquePointer) throws(KafkaError) -> OpaquePointer?
  ) async throws(KafkaError) {
    let handle = producer.handle
    let operation = "\(operation) of \(transactionalID)"
    do throws(KafkaError) {
      try await calls.run(operation, within: limit + Self.callGrace, on: handle.blocking) { () throws(KafkaError) in
        if let error = try body(handle.rk) { throw KafkaError(consuming: error, operation: operation) }
      }
    } catch {
      throw judged(error)
    }
  }

  /// Returns the fatal error that ended the client, if there is one. Calls after it fail with less specific errors.
  private func judged(_ error: KafkaError) -> KafkaError {
    guard let fatal = producer.handle.fatalError else { return error }
    return KafkaError(code: fatal.code, operation: error.operation, reason: fatal.reason, isFatal: true)
  }
}

extension Duration {
  /// At least 1 and at most the maximum of `Int32`, because librdkafka waits for ever on a negative limit and not at
  /// all on zero.
  fileprivate var boundedMilliseconds: Int32 { max(1, Int32(clamping: wholeMilliseconds)) }
}
