public import KafkaClient

/// Writes records.
public protocol LogWriter: Sendable {
  /// Serves the client until ``shutDown()`` was called and every accepted record has its outcome. Cancelling the task
  /// withdraws records that are not on the wire yet. A writer without transactions replaces a client after a fatal
  /// error.
  /// - Throws: ``KafkaError`` that ended the client.
  func run() async throws(KafkaError)

  /// Stops accepting records.
  func shutDown()

  /// Fetches the metadata of these topics, so that the first record of each does not wait for it.
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError)

  /// Writes one record and returns its position once all in-sync replicas have it. Calls may run concurrently. Records
  /// of one partition are written in the order of the calls, unless the client is replaced in between.
  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition

  /// Writes records in order and returns their positions once all in-sync replicas have all of them.
  /// - Throws: ``KafkaError`` of the first record that failed, once the outcome of every accepted record is known.
  func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition]
}

extension LogWriter {
  /// Writes records one after the other.
  public func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    var positions: [RecordPosition] = []
    for record in records { positions.append(try await send(record)) }
    return positions
  }
}

/// Writes records and a group's offsets so that readers see all of them or none.
///
/// ``KafkaError/transactionRemedy`` of an error says what to do: repeat the call, abort and produce the same records in
/// a new transaction, or give up. Apart from sends, make one call at a time. Calls need a running ``LogWriter/run()``.
public protocol TransactionalLogWriter: LogWriter {
  /// Whether a request ended without an answer. It may arrive later, and act on the next transaction of this writer: end
  /// the open transaction, and begin the next one with another writer of the same id.
  var hasUnansweredRequest: Bool { get }

  /// Takes over the transactional id: fences older instances and aborts their open transactions. Call it once, before
  /// any other call.
  func initialize(timeout: Duration) async throws(KafkaError)

  /// Opens a transaction.
  func begin() async throws(KafkaError)

  /// Adds offsets of a group to the open transaction.
  /// - Throws: ``KafkaError`` with the remedy `abort` if the generation of `group` is old.
  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError)

  /// Commits the open transaction. After a timeout, call it again until the result is known.
  func commit(timeout: Duration) async throws(KafkaError)

  /// Aborts the open transaction.
  func abort(timeout: Duration) async throws(KafkaError)
}
