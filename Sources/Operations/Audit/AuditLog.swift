// The topic `millrace.audit` as commands and the console read and write it.

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

  private func check() async throws {
    guard try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] != nil else {
      throw OperationError(
        .failed, "no such topic in the cluster", at: topic, remedy: "create it with millrace topics apply")
    }
  }
}
