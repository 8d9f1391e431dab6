// Implements `millrace quarantine`: reads the topic, verifies bodies again and writes those that are now admitted. The
// quarantine itself does not change; its retention empties it.

internal import AppStore
package import MillraceTime
package import KafkaClient
package import MillraceCore
package import MillraceRecords

/// Reads and resubmits the quarantine of a deployment.
package struct QuarantineOperation: Sendable {
  private let configuration: KafkaConfiguration
  private let topic: String
  private let clock: MillraceClock

  /// Opens the quarantine that `catalog` declares.
  /// - Parameter clock: The clock of the records' times.
  /// - Throws: `MillraceError` if the catalog declares none.
  package init(
    _ configuration: KafkaConfiguration, catalog: TopicCatalog, clock: MillraceClock = .system
  ) throws(MillraceError) {
    guard let quarantine = catalog.topic(named: QuarantineRecord.topic) else {
      throw MillraceError(
        .topics, "no topic file declares the topic", at: QuarantineRecord.topic,
        remedy: "set topics.directory to the directory of millrace.quarantine.yaml")
    }
    self.configuration = configuration
    self.clock = clock
    topic = quarantine.topic
  }

  /// Reads the whole quarantine.
  ///
  /// - Parameter onReady: Called once, when the cluster has answered and reading begins.
  /// - Throws: `KafkaError`, or ``OperationError`` if the topic does not exist.
  package func inventory(onReady: () -> Void = {}) async throws -> QuarantineInventory {
    var inventory = QuarantineInventory()
    try await SnapshotReader(configuration).read(topic, onReady: onReady) { inventory.add($0) }
    return inventory
  }

  /// Verifies bodies again and writes those that are now admitted, each once.
  ///
  /// - Parameters:
  ///   - ids: Full IDs.
  ///   - isDryRun: Only verifies.
  ///   - router: Chooses the topic of each notification.
  ///   - report: Receives each result as it happens.
  /// - Returns: The counts.
  /// - Throws: `KafkaError`, or ``OperationError`` if the topic does not exist; the error of `report`.
  package func resubmit(
    _ ids: Set<String>, by readmission: Readmission, router: NotificationRouter, isDryRun: Bool,
    report: (ResubmissionOutcome) throws -> Void
  ) async throws -> ResubmissionSummary {
    let producer = isDryRun ? nil : try KafkaProducer(configuration)
    let running = producer.map { producer in Task { try await producer.run() } }
    var summary = ResubmissionSummary()
    do {
      var left = ids
      var stillRefused: [String: ResubmissionOutcome] = [:]
      try await SnapshotReader(configuration).read(topic) { record in
        guard let quarantined = QuarantineRecord(record), left.contains(quarantined.id) else { return }
        let written = record.time(by: clock)
        let outcome = await resubmit(quarantined, writtenAt: written, readmission, router, producer)
        // The same version 1 body may have been posted again with another secret.
        if quarantined.version == .v1, case .refused = outcome.result {
          stillRefused[quarantined.id] = outcome
          return
        }
        left.remove(quarantined.id)
        stillRefused[quarantined.id] = nil
        summary.add(outcome)
        try report(outcome)
      }
      for outcome in stillRefused.values.sorted(by: { $0.id < $1.id }) {
        summary.add(outcome)
        try report(outcome)
      }
    } catch {
      running?.cancel()
      throw error
    }
    producer?.shutDown()
    try await running?.value
    return summary
  }

  private func resubmit(
    _ quarantined: QuarantineRecord, writtenAt: Timestamp?, _ readmission: Readmission, _ router: NotificationRouter,
    _ producer: KafkaProducer?
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
    guard let producer else { return outcome(.admitted) }
    do {
      return outcome(.written(try await producer.send(record.producerRecord.timed(by: clock))))
    } catch {
      return outcome(.failed(error))
    }
  }
}
