internal import CRDKafka

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
/// Each error says with ``KafkaError/transactionRemedy`` whether to call again, to abort, or to give up. One call at a
/// time, sends excepted; all of them only while ``run()`` runs. Follows librdkafka's "Transactional producer API".
public final class KafkaTransactionalProducer: Sendable {
  /// The name by which brokers know successive instances of this producer, of which one at a time may write.
  public let transactionalID: String

  private let producer: KafkaProducer

  /// Starts a client. No connection is awaited.
  /// - Parameters:
  ///   - transactionalID: not empty; the same after a restart, different among processes that write at once.
  ///   - transactionTimeout: how long a transaction may stay open before the broker aborts it
  ///     (`transaction.timeout.ms`); at least a second, at most the broker's `transaction.max.timeout.ms`.
  ///   - sendTimeout: how long one send can take; at most `transactionTimeout` counts.
  ///   - observer: hears logs, errors and statistics.
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
      sendTimeout: min(sendTimeout, transactionTimeout), observer: observer)
  }

  /// Serves delivery reports until ``shutDown()`` was called and every send has its outcome. Cancelling the task
  /// purges what is queued.
  /// - Throws: the fatal error that ended the client, where there was one.
  public func run() async throws(KafkaError) { try await producer.run() }

  /// Takes no more records. End the open transaction first: one that is left open holds readers up until a newer
  /// instance initializes or the transaction's time is over.
  public func shutDown() { producer.shutDown() }

  /// Learns where the partitions of these topics are, as ``KafkaProducer/prepare(_:timeout:)`` does.
  public func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    try await producer.prepare(topics, timeout: timeout)
  }

  /// Takes over the transactional id: fences older instances, aborts what they left open. Once, before all else.
  public func initialize(timeout: Duration) async throws(KafkaError) {
    try await call("initialize transactions") { rk in
      rd_kafka_init_transactions(rk, timeout.boundedMilliseconds)
    }
  }

  /// Opens a transaction. Asks no broker.
  public func begin() async throws(KafkaError) {
    try await call("begin a transaction") { rk in rd_kafka_begin_transaction(rk) }
  }

  /// Writes one record inside the open transaction and returns its position once all in-sync replicas have it.
  /// - Throws: ``KafkaError``. A record that was taken and failed dooms the transaction: the remedy is to abort. One
  ///   that was refused before that (too large) does not.
  public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    do throws(KafkaError) {
      return try await producer.send(record)
    } catch {
      throw judged(error)
    }
  }

  /// Writes records in their order inside the open transaction; see ``KafkaProducer/send(contentsOf:)``.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    do throws(KafkaError) {
      return try await producer.send(contentsOf: records)
    } catch {
      throw judged(error)
    }
  }

  /// Makes offsets of a consumer group part of the open transaction: committed with it or not at all.
  /// - Throws: ``KafkaError``; to be aborted where the group has moved on from this generation of its members.
  public func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    try await call("send offsets to the transaction") { rk throws(KafkaError) in
      let list = TopicPartitionList(offsets)
      return try group.withNative { native in
        rd_kafka_send_offsets_to_transaction(rk, list.native, native, timeout.boundedMilliseconds)
      }
    }
  }

  /// Waits for every record of the transaction, then commits it.
  ///
  /// Where the time limit passed, the commit goes on in the background: call again until it is decided. Nothing else
  /// tells whether it happened.
  public func commit(timeout: Duration) async throws(KafkaError) {
    try await call("commit the transaction") { rk in rd_kafka_commit_transaction(rk, timeout.boundedMilliseconds) }
  }

  /// Ends the open transaction as if it had never been. Where a broker had refused a record, the transaction after this
  /// one may have to be aborted too: only then does librdkafka ask for a new epoch. Sends that are still under way fail with `purged` or `inDoubt`.
  public func abort(timeout: Duration) async throws(KafkaError) {
    try await call("abort the transaction") { rk in rd_kafka_abort_transaction(rk, timeout.boundedMilliseconds) }
  }

  private func call(
    _ operation: String, _ body: @escaping @Sendable (OpaquePointer) throws(KafkaError) -> OpaquePointer?
  ) async throws(KafkaError) {
    let handle = producer.handle
    let operation = "\(operation) of \(transactionalID)"
    do throws(KafkaError) {
      try await handle.blocking.run { () throws(KafkaError) in
        if let error = try body(handle.rk) { throw KafkaError(consuming: error, operation: operation) }
      }
    } catch {
      throw judged(error)
    }
  }

  /// After a fatal error every call fails with something else; what ended the client is what a caller has to know.
  private func judged(_ error: KafkaError) -> KafkaError {
    guard let fatal = producer.handle.fatalError else { return error }
    return KafkaError(code: fatal.code, operation: error.operation, reason: fatal.reason, isFatal: true)
  }
}

extension Duration {
  /// For calls that read a negative limit as "for ever" and zero as "not at all".
  fileprivate var boundedMilliseconds: Int32 { max(1, Int32(clamping: wholeMilliseconds)) }
}
