// Reads and resubmits the quarantine with the same code as `millrace quarantine`.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations
internal import Synchronization

/// The quarantine of the deployment.
struct QuarantineService: Sendable {
  private let operation: QuarantineOperation
  private let configuration: MillraceConfiguration
  private let log: @Sendable () async throws -> any RecordLog
  private let clock: MillraceClock

  /// The number of offsets of each partition that the pages show, the newest.
  static let newest: Int64 = 10_000
  /// The largest number of bodies in one decision.
  static let limit = 1_000

  /// - Parameters:
  ///   - source: Connects to Kafka for reading.
  ///   - log: Connects to Kafka for writing.
  /// - Throws: `MillraceError` if the catalog declares no quarantine.
  init(
    _ configuration: MillraceConfiguration, _ catalog: TopicCatalog,
    reading source: @escaping @Sendable () async throws -> any RecordLog,
    writing log: @escaping @Sendable () async throws -> any RecordLog, clock: MillraceClock
  ) throws(MillraceError) {
    operation = try QuarantineOperation(reading: source, writing: log, catalog: catalog, clock: clock)
    (self.configuration, self.log, self.clock) = (configuration, log, clock)
  }

  func inventory() async throws -> QuarantineInventory { try await operation.inventory(newest: Self.newest) }

  func record(_ id: String) async throws -> ConsumerRecord? { try await operation.record(id, newest: Self.newest) }

  /// Verifies bodies again with the console's configuration, and writes those that are now admitted.
  /// - Throws: `MillraceError` that names a file that this process cannot read; ``OperationError``; `KafkaError`.
  func resubmit(_ ids: Set<String>, why: String, by user: String) async throws -> [ResubmissionOutcome] {
    // Roots and secrets are read before the audit trail says that something began.
    let readmission = try Readmission(configuration, clock: clock)
    let heard = Mutex<[ResubmissionOutcome]>([])
    _ = try await operation.resubmit(
      ids, by: readmission, author: user, source: DeadLetterService.source, why: why,
      recordedIn: AuditLog(on: try await log(), prefix: configuration.topics.prefix)
    ) { outcome in heard.withLock { $0.append(outcome) } }
    let outcomes = heard.withLock { $0 }
    // Retention can remove a body between the list and the decision.
    let gone = ids.subtracting(outcomes.map(\.id)).sorted()
    return outcomes
      + gone.map {
        ResubmissionOutcome(id: $0, result: .refused(Refusal(.malformed, .malformed, "it is no longer there")))
      }
  }
}
