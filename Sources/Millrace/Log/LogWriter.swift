// What brings records into a log.

public import Kafka

/// Writes records.
public protocol LogWriter: Sendable {
  /// Serves the client until ``shutDown()`` was called and every record taken has its outcome. Cancelling the task
  /// withdraws what is not on the wire yet.
  /// - Throws: ``KafkaError`` that ended the client.
  func run() async throws(KafkaError)

  /// Takes no more records.
  func shutDown()

  /// Learns where the partitions of these topics are, so that the first record to each does not wait for it.
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError)

  /// Writes one record and returns its position once all in-sync replicas have it. Many calls may run at once; records
  /// of one partition are written in the order of the calls.
  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition

  /// Writes records in their order and returns their positions once all in-sync replicas have all of them.
  /// - Throws: ``KafkaError`` of the first record that failed, once the outcome of every record taken is known.
  func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition]
}

extension LogWriter {
  /// Writes records in their order, one after the other.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    var positions: [RecordPosition] = []
    for record in records { positions.append(try await send(record)) }
    return positions
  }
}

/// Writes records and a group's offsets so that readers see all of them or none.
///
/// Errors say with ``KafkaError/transactionRemedy`` what to do: the same call again, abort and produce the same records
/// in a new transaction, or give up. Calls come one at a time, sends excepted, and only while ``LogWriter/run()`` runs.
public protocol TransactionalLogWriter: LogWriter {
  /// Takes over the transactional id: fences older instances and aborts what they left open. Once, before all else.
  func initialize(timeout: Duration) async throws(KafkaError)

  /// Opens a transaction.
  func begin() async throws(KafkaError)

  /// Makes offsets of a group part of the open transaction.
  /// - Throws: ``KafkaError`` with remedy `abort` where the group has moved on from the generation of `group`.
  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError)

  /// Commits the open transaction. Where the limit passed, call again until it is decided.
  func commit(timeout: Duration) async throws(KafkaError)

  /// Ends the open transaction as if it had never been.
  func abort(timeout: Duration) async throws(KafkaError)
}
