// The topic `millrace.audit` as commands and the console read and write it.

public import AppStore
internal import Kafka
public import Millrace

/// The audit trail of a deployment.
public struct AuditLog: Sendable {
  private let log: any RecordLog
  private let prefix: String

  /// The trail on a log.
  /// - Parameter prefix: Put before every topic's name.
  public init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
  }

  /// The topic's name in Kafka.
  public var topic: String { prefix + AuditRecord.topic }

  /// Everything in the trail now.
  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  public func trail() async throws -> AuditTrail {
    try await check()
    return try await TopicTable(topic, in: log, AuditTrail()) { $0.fold(AuditRecord($1)) }.current()
  }

  /// Everything in the trail now, and what was last heard of runs.
  /// - Parameter time: Now, in the time that records are stamped with.
  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  public func survey(at time: Timestamp) async throws -> AuditSurvey {
    AuditSurvey(try await trail(), try await pulse(), at: time)
  }

  /// What was last heard of runs, as far as the topics that tell it are there.
  func pulse() async throws -> RunPulse {
    let (operations, backfills) = (prefix + "millrace.operations", prefix + BackfillRecord.topic)
    let present = try await log.partitionCounts(of: [operations, backfills], timeout: .seconds(15))
    var pulse = RunPulse()
    if present[operations] != nil {
      pulse = try await TopicTable(operations, in: log, pulse) { $0.fold($1) }.current()
    }
    if present[backfills] != nil { pulse.fold(try await BackfillLog(on: log, prefix: prefix).table()) }
    return pulse
  }

  /// Ends something whose process ends before its time, by an error or a signal. A task of its own writes it, since this
  /// one may be cancelled. Where that fails as well, readers see that nothing more was heard of it.
  /// - Parameter record: The end, by its result.
  func endEarly(by error: any Error, _ record: (AuditRecord.Result) -> AuditRecord) async {
    let end = record(.failed(Task.isCancelled ? "interrupted" : FailureReport(error).lines.first ?? "\(error)"))
    _ = await Task { try await append([end]) }.result
  }

  /// Writes records and returns once all in-sync replicas have them. What begins is written before anything is done: an
  /// action that nobody could look up is not begun.
  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  public func append(_ records: [AuditRecord]) async throws {
    try await check()
    try await log.append(records.map { $0.producerRecord(prefix: prefix) })
  }

  /// A table that follows the topic, for a process that stays.
  public func table() -> TopicTable<AuditTrail> {
    TopicTable(topic, in: log, AuditTrail()) { $0.fold(AuditRecord($1)) }
  }

  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  func check() async throws {
    guard try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] != nil else {
      throw OperationError(
        .failed, "no such topic in the cluster", at: topic, remedy: "create it with millrace topics apply")
    }
  }
}
