// `millrace quarantine`: reads the topic, judges again, writes what is admitted now. The quarantine itself is left as it
// is: its retention empties it.

internal import AppStore
public import Kafka
public import Millrace

/// Works on the quarantine of a deployment.
public struct QuarantineOperation: Sendable {
  private let configuration: KafkaConfiguration
  private let topic: String

  /// The quarantine that `catalog` declares.
  /// - Throws: `MillraceError` where it declares none.
  public init(_ configuration: KafkaConfiguration, catalog: TopicCatalog) throws(MillraceError) {
    guard let quarantine = catalog.topic(named: QuarantineRecord.topic) else {
      throw MillraceError(
        .topics, "no topic file declares it", at: QuarantineRecord.topic,
        remedy: "set topics.directory to the directory that holds millrace.quarantine.yaml")
    }
    self.configuration = configuration
    topic = quarantine.topic
  }

  /// Everything in the quarantine.
  ///
  /// - Parameter onReady: called once, when the cluster has answered and reading begins.
  /// - Throws: `KafkaError`, or ``OperationError`` where the topic does not exist.
  public func inventory(onReady: () -> Void = {}) async throws -> QuarantineInventory {
    var inventory = QuarantineInventory()
    try await SnapshotReader(configuration).read(topic, onReady: onReady) { inventory.add($0) }
    return inventory
  }

  /// Judges bodies again and writes those that are admitted now, each once.
  ///
  /// - Parameters:
  ///   - ids: whole ids.
  ///   - isDryRun: judge only.
  ///   - router: where notifications go.
  ///   - report: hears what became of each body, as it happens.
  /// - Returns: the counts.
  /// - Throws: `KafkaError`, or ``OperationError`` where the topic does not exist; what `report` throws.
  public func resubmit(
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
        let written = record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
        let outcome = await resubmit(quarantined, writtenAt: written, readmission, router, producer)
        // The same version 1 body may have been posted with another secret later.
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
      // Apple posted it, and it is received now as it was then: nothing in the record tells that it waited.
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
      return outcome(.written(try await producer.send(record.producerRecord)))
    } catch {
      return outcome(.failed(error))
    }
  }
}
