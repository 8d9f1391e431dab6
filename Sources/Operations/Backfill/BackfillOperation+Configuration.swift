// Creates an operation from the configuration: a client per app, one budget, and announcements of Apple's pauses.

internal import AppStoreServerAPI
package import MillraceTime
internal import KafkaClient
internal import Logging
package import MillraceCore
internal import MillraceRecords
internal import MillraceWorker

extension BackfillOperation {
  /// Runs `work` with an operation and closes its connections afterwards.
  ///
  /// - Throws: `MillraceError` that names the configuration key, or the error of `work`.
  package static func with<Result: Sendable>(
    _ log: BackfillLog, _ apps: [APIApp], _ configuration: MillraceConfiguration, clock: MillraceClock, parallel: Int,
    report: @escaping @Sendable (BackfillReport) throws -> Void,
    _ work: @Sendable (BackfillOperation) async throws -> Result
  ) async throws -> Result {
    let quiet = Logger(label: "millrace.backfill") { _ in SwiftLogNoOpLogHandler() }
    return try await withParts(log, apps, configuration, part: budgetPart, clock: clock, logger: quiet) { parts, _ in
      var parts = parts
      parts.parallel = parallel
      return try await work(BackfillOperation(parts, report: report))
    }
  }

  /// Runs `work` with the parts of an operation or a follower and closes the connections afterwards.
  static func withParts<Result: Sendable>(
    _ log: BackfillLog, _ apps: [APIApp], _ configuration: MillraceConfiguration, part: Double, clock: MillraceClock,
    logger: Logger, _ work: @Sendable (Parts, APIBudget) async throws -> Result
  ) async throws -> Result {
    let catalog = try TopicCatalog.load(configuration)
    let (pauses, newPauses) = AsyncStream.makeStream(of: BudgetPause.self, bufferingPolicy: .bufferingNewest(1_000))
    let budget = APIAccess.budget(configuration.appStore, part: part, clock: clock) { newPauses.yield($0) }
    let admission = try NotificationAdmission(
      configuration, clock: clock, revocation: configuration.trust.revocation.checker(clock: clock))
    let channel = PauseChannel(
      topic: log.prefix + WorkerTopics.controlTopic, log: log.log, pauses: pauses, budget: budget, logger: logger
    ) { record, problem in
      logger.warning(
        "skipped an unreadable record",
        metadata: ["record": "\(record.topic)[\(record.partition)]@\(record.offset)", "problem": "\(problem)"])
    }
    return try await APIAccess.withClients(of: apps, configuration, clock: clock, budget: budget) { clients in
      var parts = Parts(log: log, clients: clients, admission: admission, catalog: catalog, clock: clock)
      parts.pauses = channel
      parts.erased = try ErasedCustomers(configuration, on: log.log)
      return try await work(parts, budget)
    }
  }

  /// The topics that a backfill reads and writes.
  static func topics(of catalog: TopicCatalog) -> [TopicDefinition] {
    catalog.notificationTopics
      + [BackfillRecord.topic, QuarantineRecord.topic, WorkerTopics.controlTopic].compactMap {
        catalog.topic(named: $0)
      }
  }
}

extension BackfillOperation.Parts {
  /// Throws if a topic does not exist.
  /// - Returns: The name of the quarantine topic in Kafka.
  func requireTopics() async throws -> String {
    try await log.require(
      [BackfillRecord.topic, QuarantineRecord.topic, WorkerTopics.controlTopic, AuditRecord.topic]
        + catalog.notificationTopics.map(\.name))
    return log.prefix + QuarantineRecord.topic
  }
}
