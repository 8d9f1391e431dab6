// Reads and writes the topic `millrace.audit` for commands and the console.

package import AppStore
internal import KafkaClient
package import MillraceRecords
internal import MillraceWorker

/// The audit trail of a deployment.
package struct AuditLog: Sendable {
  private let log: any RecordLog
  private let prefix: String

  /// Creates an audit log on a record log.
  /// - Parameter prefix: The prefix of every topic name.
  package init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
  }

  /// The topic's name in Kafka.
  package var topic: String { prefix + AuditRecord.topic }

  /// Reads the whole trail.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func trail() async throws -> AuditTrail {
    try await check()
    return try await TopicTable(topic, in: log, AuditTrail()) { $0.fold(AuditRecord($1)) }.current()
  }

  /// Reads the whole trail and the latest activity of each run.
  /// - Parameter time: The current time, on the clock that stamps records.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func survey(at time: Timestamp) async throws -> AuditSurvey {
    AuditSurvey(try await trail(), try await pulse(), at: time)
  }

  /// The latest activity of each run, from those activity topics that exist.
  func pulse() async throws -> RunHeartbeat {
    let (operations, backfills) = (prefix + "millrace.operations", prefix + BackfillRecord.topic)
    let present = try await log.partitionCounts(of: [operations, backfills], timeout: .seconds(15))
    var pulse = RunHeartbeat()
    if present[operations] != nil {
      pulse = try await TopicTable(operations, in: log, pulse) { $0.fold($1) }.current()
    }
    if present[backfills] != nil { pulse.fold(try await BackfillLog(on: log, prefix: prefix).table()) }
    return pulse
  }

  /// Records that an action ended early, by an error or a signal. A separate task writes the record because the current
  /// task may be cancelled. If the write fails too, readers see the run as silent.
  /// - Parameter record: Makes the end record from the result.
  func endEarly(by error: any Error, _ record: (AuditRecord.Result) -> AuditRecord) async {
    let end = record(.failed(Task.isCancelled ? "interrupted" : FailureReport(error).lines.first ?? "\(error)"))
    _ = await Task { try await append([end]) }.result
  }

  /// Records the end of an action whose result the caller must receive even if this write fails. If it fails, readers
  /// see the run as silent.
  func endRegardless(_ record: AuditRecord) async {
    _ = await Task { try await append([record]) }.result
  }

  /// Appends records and returns when all in-sync replicas have them. Write the start of an action before the action
  /// itself, and skip the action if that fails.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func append(_ records: [AuditRecord]) async throws {
    try await check()
    try await log.append(records.map { $0.producerRecord(prefix: prefix) })
  }

  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  func check() async throws {
    guard try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] != nil else {
      throw OperationError.missing(topic)
    }
  }
}
