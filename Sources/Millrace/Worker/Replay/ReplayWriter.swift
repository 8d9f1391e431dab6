// What a run writes: its beginning, its copies, and how far it is.

package import Clocks
package import Kafka

/// Writes for one run. With transactions each write is there whole or not at all, and whoever writes fences who wrote for
/// the run before; without them one half comes after the other.
package struct ReplayWriter: Sendable {
  /// Whether a write is one transaction.
  package let isTransactional: Bool
  private let writer: WorkerWriter
  private let clock: MillraceClock

  /// - Parameter prefix: Put before every topic's name, and before the transactional id.
  /// - Throws: `KafkaError` where the client cannot be made.
  package init(of run: String, prefix: String, on log: any RecordLog, clock: MillraceClock) throws {
    self.clock = clock
    isTransactional = log.description.capabilities.contains(.transactions)
    writer =
      isTransactional
      ? .transactional(
        try log.makeTransactionalWriter(
          id: "\(prefix)millrace.replay.\(run)", timeout: WorkerWriter.transactionTimeout))
      : .plain(try log.makeWriter())
  }

  /// Serves the client while `body` runs, which begins when nobody else can write for the run any more.
  package func whileRunning(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await writer.whileRunning { client in
      try await writer.initialize(client)
      try await body()
    }
  }

  /// Writes records and returns once all in-sync replicas have them. Without transactions `rest` is written when all of
  /// `first` is there.
  package func write(_ first: [ProducerRecord], then rest: [ProducerRecord]) async throws {
    switch writer {
    case .plain(let writer):
      for records in [first, rest] where !records.isEmpty { _ = try await writer.send(contentsOf: records) }
    case .transactional(let writer): try await commit(first + rest, writer)
    }
  }

  /// One transaction; one that was aborted is produced again.
  private func commit(_ records: [ProducerRecord], _ writer: any TransactionalLogWriter) async throws {
    let limit = WorkerWriter.transactionTimeout
    while true {
      try Task.checkCancellation()
      do {
        try await again { try await writer.begin() }
        _ = try await writer.send(contentsOf: records)
        return try await again { try await writer.commit(timeout: limit) }
      } catch let error as KafkaError where error.transactionRemedy != .replace && error.code != .messageTooLarge {
        try await again { try await writer.abort(timeout: limit) }
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50)))
      }
    }
  }

  /// The same call until it is decided.
  private func again(_ call: () async throws -> Void) async throws {
    while true {
      do {
        return try await call()
      } catch let error as KafkaError where error.transactionRemedy == .retry {
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(100)))
      }
    }
  }
}
