// Implements `millrace quarantine`: reads the topic, verifies bodies again and writes those that are now admitted. The
// quarantine itself does not change; its retention empties it.

internal import AppStore
package import MillraceTime
package import KafkaClient
package import MillraceCore
package import MillraceRecords

/// Reads and resubmits the quarantine of a deployment.
package struct QuarantineOperation: Sendable {
  private let source: @Sendable () async throws -> any RecordLog
  private let log: @Sendable () async throws -> any RecordLog
  private let router: NotificationRouter
  private let topic: String
  private let clock: MillraceClock

  /// Opens the quarantine that `catalog` declares.
  /// - Parameter clock: The clock of the records' times.
  /// - Throws: `MillraceError` if the catalog declares none.
  package init(
    _ configuration: KafkaConfiguration, catalog: TopicCatalog, clock: MillraceClock = .system
  ) throws(MillraceError) {
    try self.init(
      reading: { try await KafkaLog.reader(configuration) },
      writing: { try await KafkaLog.connect(configuration, timeout: .seconds(15)) }, catalog: catalog, clock: clock)
  }

  /// Opens the quarantine on other logs.
  /// - Parameters:
  ///   - source: Connects for reading.
  ///   - log: Connects for writing.
  /// - Throws: `MillraceError` if the catalog declares no quarantine.
  package init(
    reading source: @escaping @Sendable () async throws -> any RecordLog,
    writing log: @escaping @Sendable () async throws -> any RecordLog, catalog: TopicCatalog, clock: MillraceClock
  ) throws(MillraceError) {
    guard let quarantine = catalog.topic(named: QuarantineRecord.topic) else {
      throw MillraceError(
        .topics, "no topic file declares the topic", at: QuarantineRecord.topic,
        remedy: "set topics.directory to the directory of millrace.quarantine.yaml")
    }
    (self.source, self.log, self.clock) = (source, log, clock)
    router = catalog.router
    topic = quarantine.topic
  }

  /// Reads the quarantine.
  ///
  /// - Parameters:
  ///   - limit: The number of offsets to read from each partition, the newest; nil: all.
  ///   - onReady: Called once, when the cluster has answered and reading begins.
  /// - Throws: `KafkaError`, or ``OperationError`` if the topic does not exist.
  package func inventory(newest limit: Int64? = nil, onReady: () -> Void = {}) async throws -> QuarantineInventory {
    let log = try await source()
    let all = try await log.presentOffsets(of: [topic])
    let ranges = all.mapValues { Self.newest(limit, of: $0) }
    onReady()
    var inventory = QuarantineInventory()
    inventory.olderOffsets = all.reduce(0) { sum, entry in
      sum + (ranges[entry.key]?.lowerBound ?? 0) - entry.value.lowerBound
    }
    return try await log.fold(ranges, into: inventory) { inventory, page in
      for record in page.records { inventory.add(record) }
    }
  }

  /// Returns the newest copy of a body.
  ///
  /// - Parameters:
  ///   - id: The full ID.
  ///   - limit: The number of offsets to read from each partition, the newest.
  /// - Throws: `KafkaError`, or ``OperationError`` if the topic does not exist.
  package func record(_ id: String, newest limit: Int64) async throws -> ConsumerRecord? {
    let log = try await source()
    let ranges = try await log.presentOffsets(of: [topic]).mapValues { Self.newest(limit, of: $0) }
    // The key is the ID, but the body decides.
    return try await log.fold(ranges, into: ConsumerRecord?.none) { found, page in
      for record in page.records where record.key == Array(id.utf8) && QuarantineRecord(record)?.id == id {
        if record.timestamp ?? 0 >= found?.timestamp ?? 0 { found = record }
      }
    }
  }

  private static func newest(_ limit: Int64?, of range: Range<Int64>) -> Range<Int64> {
    guard let limit else { return range }
    return max(range.lowerBound, range.upperBound - limit)..<range.upperBound
  }

  /// Verifies bodies again, writes those that are now admitted, and records that in the audit trail. Otherwise like
  /// ``resubmit(_:by:isDryRun:report:)``.
  ///
  /// - Parameters:
  ///   - author: The operator.
  ///   - source: The name of the program.
  ///   - why: The operator's reason; nil if none was given.
  package func resubmit(
    _ ids: Set<String>, by readmission: Readmission, author: String, source: String = "millrace", why: String? = nil,
    recordedIn audit: AuditLog, report: @escaping @Sendable (ResubmissionOutcome) throws -> Void
  ) async throws -> ResubmissionSummary {
    try await audit.record(
      .resubmit, by: author, source: source, clock: clock, why: why,
      selection: ["ids": .array(ids.sorted().map { .string($0) })]
    ) {
      try await resubmit(ids, by: readmission, isDryRun: false, report: report)
    } end: {
      $0.audited
    }
  }

  /// Verifies bodies again and writes those that are now admitted, each once.
  ///
  /// - Parameters:
  ///   - ids: Full IDs.
  ///   - isDryRun: Only verifies.
  ///   - report: Receives each result as it happens.
  /// - Returns: The counts.
  /// - Throws: `KafkaError`, or ``OperationError`` if the topic does not exist; the error of `report`.
  package func resubmit(
    _ ids: Set<String>, by readmission: Readmission, isDryRun: Bool,
    report: @escaping @Sendable (ResubmissionOutcome) throws -> Void
  ) async throws -> ResubmissionSummary {
    let (log, source) = (try await log(), try await source())
    let ranges = try await source.presentOffsets(of: [topic]).sorted { $0.key < $1.key }
    let resubmission = Resubmission(ids, report)
    @Sendable func read(_ writer: (any LogWriter)?) async throws -> ResubmissionSummary {
      for (partition, range) in ranges {
        try await source.scan(
          partition, from: .offset(range.lowerBound), to: .offset(range.upperBound), upTo: 100
        ) { page in
          for record in page {
            guard let quarantined = QuarantineRecord(record), await resubmission.left.contains(quarantined.id) else {
              continue
            }
            try await resubmission.take(
              await resubmit(quarantined, writtenAt: record.time(by: clock), readmission, writer),
              isFinal: quarantined.version != .v1)
          }
        }
      }
      return try await resubmission.end()
    }
    return try await isDryRun ? read(nil) : log.withWriter { try await read($0) }
  }

  private func resubmit(
    _ quarantined: QuarantineRecord, writtenAt: Timestamp?, _ readmission: Readmission, _ writer: (any LogWriter)?
  ) async -> ResubmissionOutcome {
    let id = quarantined.id
    let record: NotificationRecord
    do {
      // The record looks as if it had been admitted when Apple posted it: it keeps the original time of receipt.
      record = try await readmission.judge(quarantined).record(
        origin: .post, traceParent: nil,
        receivedAt: quarantined.receivedAt ?? writtenAt ?? Timestamp(millisecondsSince1970: 0), router: router)
    } catch {
      return ResubmissionOutcome(id: id, result: .refused(error))
    }
    func outcome(_ result: ResubmissionOutcome.Result) -> ResubmissionOutcome {
      ResubmissionOutcome(id: id, topic: record.topic, notificationID: record.event.id, result: result)
    }
    guard let writer else { return outcome(.admitted) }
    do {
      return outcome(.written(try await writer.send(record.producerRecord.timed(by: clock))))
    } catch {
      return outcome(.failed(error))
    }
  }
}

/// The bodies that a resubmission has not written yet.
private actor Resubmission {
  private(set) var left: Set<String>
  private var summary = ResubmissionSummary()
  private var stillRefused: [String: ResubmissionOutcome] = [:]
  private let report: @Sendable (ResubmissionOutcome) throws -> Void

  init(_ ids: Set<String>, _ report: @escaping @Sendable (ResubmissionOutcome) throws -> Void) {
    (left, self.report) = (ids, report)
  }

  /// - Parameter isFinal: Whether a refusal is final. The same version 1 body may have been posted again with another
  ///   secret.
  func take(_ outcome: ResubmissionOutcome, isFinal: Bool) throws {
    if !isFinal, case .refused = outcome.result {
      stillRefused[outcome.id] = outcome
      return
    }
    left.remove(outcome.id)
    stillRefused[outcome.id] = nil
    summary.add(outcome)
    try report(outcome)
  }

  /// Reports the bodies that no post admits.
  func end() throws -> ResubmissionSummary {
    for outcome in stillRefused.values.sorted(by: { $0.id < $1.id }) {
      summary.add(outcome)
      try report(outcome)
    }
    return summary
  }
}
