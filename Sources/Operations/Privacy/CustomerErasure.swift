// The command that erases customers: a command to the owner of the customer's lane in each worker.

internal import AppStore
internal import KafkaClient
package import MillraceCore
package import MillraceRecords
internal import MillraceTime
internal import MillraceWorker

/// Erases customers in all workers.
package struct CustomerErasure: Sendable {
  private let workers: [WorkerOperations]
  private let log: any RecordLog
  private let prefix: String
  private let secret: ErasureKey
  /// The clock by which notifications are signed, which a test may run faster.
  private let clock: MillraceClock

  /// - Parameter author: The operator.
  /// - Throws: ``MillraceError`` if no secret is configured or it cannot be read; `KafkaError`.
  package init(_ configuration: MillraceConfiguration, on log: any RecordLog, author: String) async throws {
    guard let secret = try ErasureKey(configuration.privacy) else {
      throw MillraceError(
        .configuration, "erasing customers needs a secret", at: "privacy.keyFile",
        remedy: "create one (openssl rand -base64 32 > erasure.key), and give it to all workers; see docs/privacy.md")
    }
    self.secret = secret
    self.log = log
    prefix = configuration.topics.prefix
    clock = MillraceClock(configuration.clock)
    workers = try await WorkerOperations.present(
      in: log, among: try TopicCatalog.load(configuration), prefix: prefix, author: author)
  }

  /// The names of the workers that will be asked.
  package var workerNames: [String] { workers.map(\.name) }

  // MARK: - Finding a customer

  /// Returns the original transaction ids of a customer, sorted. Reads the tables and every notification that Kafka
  /// still has.
  /// - Parameter report: Receives the number of records that were read.
  /// - Throws: `KafkaError`; `CancellationError`.
  package func transactions(
    of appAccountToken: String, report: @escaping @Sendable (Int) -> Void
  ) async throws -> [String] {
    try await CustomerSearch(in: log, prefix: prefix, apple: nil).transactions(
      of: appAccountToken, in: CustomerSearch.tables + NotificationFamily.all.map(\.topic), report: report)
  }

  // MARK: - Erasing

  /// Orders the erasure of customers, and waits for the workers.
  /// - Parameters:
  ///   - ids: Original transaction ids.
  ///   - why: The reason, which is stored with the commands.
  ///   - patience: The maximum time without an answer. Unanswered commands remain in effect.
  /// - Returns: The result of each worker, by name.
  /// - Throws: `KafkaError`; ``OperationError`` if a worker's topics are missing.
  package func erase(
    _ ids: [String], why: String, patience: Duration, report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> [(worker: String, summary: OperationSummary)] {
    let (secret, keys, now) = (secret, Set(ids).sorted().map { Array($0.utf8) }, clock.wallTime)
    return try await withThrowingTaskGroup(of: (worker: String, summary: OperationSummary).self) { group in
      for worker in workers {
        group.addTask {
          (worker.name, try await worker.erase(keys, secret, at: now, why: why, patience: patience, report: report))
        }
      }
      var results: [(worker: String, summary: OperationSummary)] = []
      for try await result in group { results.append(result) }
      return results.sorted { $0.worker < $1.worker }
    }
  }
}

extension WorkerOperations {
  /// Erases customers in the lanes of this worker. The audit trail has the marks of their keys.
  func erase(
    _ keys: [[UInt8]], _ secret: ErasureKey, at time: Timestamp, why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let (run, lanes) = (CommandID.new(), try await lanes())
    let commands = try keys.map { key in
      let (id, mark) = (CommandID.new(), secret.mark(of: key))
      return OperationCommand(
        id: id, run: run, item: OperationCommand.erasure(of: mark, command: id), worker: name,
        lane: Murmur2.partition(of: key, among: lanes), action: .erase(customer: try secret.seal(key)), why: why,
        by: author, at: time)
    }
    return try await execute(
      commands, of: run, .erase, choosing: ["marks": .array(keys.map { .string(Hex.text(secret.mark(of: $0))) })],
      why: why, rate: nil, patience: patience, begun: { _ in }, report: report)
  }
}
