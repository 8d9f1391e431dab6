// Writes the start, the copies and the progress of a replay run.

package import MillraceTime
package import KafkaClient
package import MillraceRecords

/// The producer of one run. With transactions each write is all or nothing, and the producer fences earlier producers
/// of the run. Without them, one half of a write follows the other.
package struct ReplayWriter: Sendable {
  /// Whether each write is one transaction.
  package let isTransactional: Bool
  private let writer: WorkerWriter
  private let clock: MillraceClock

  /// A request of the last transaction ended without an answer, so this client begins no other transaction. In the
  /// meantime another program may have taken over the run, so only its progress in Kafka says where to continue.
  private struct ClientIsOver: Error {}

  private init(of run: String, prefix: String, on log: any RecordLog, clock: MillraceClock) throws {
    self.clock = clock
    isTransactional = log.description.capabilities.contains(.transactions)
    writer =
      isTransactional
      ? .transactional(
        try ReplaceableProducer { () throws(KafkaError) in
          try log.makeTransactionalWriter(
            id: "\(prefix)millrace.replay.\(run)", timeout: WorkerWriter.transactionTimeout)
        })
      : .plain(try log.makeWriter())
  }

  /// Runs `body` with the producer of a run, after earlier producers of the run have been fenced.
  ///
  /// If a request gets no answer, a new producer fences it, and `body` begins again. It must therefore read first how far
  /// the run has come.
  /// - Parameter prefix: The prefix of topic names and of the transactional id.
  /// - Throws: `KafkaError` if the client cannot be created or another program has taken over; the error of `body`.
  package static func use(
    for run: String, prefix: String, on log: any RecordLog, clock: MillraceClock,
    _ body: @escaping @Sendable (ReplayWriter) async throws -> Void
  ) async throws {
    while true {
      let writer = try ReplayWriter(of: run, prefix: prefix, on: log, clock: clock)
      do {
        return try await writer.writer.whileRunning { client in
          try await writer.writer.initialize(client)
          try await body(writer)
        }
      } catch is ClientIsOver {
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50)))
      }
    }
  }

  /// Writes records and returns after all in-sync replicas have them. Without transactions, `rest` is written after all
  /// of `first` is acknowledged.
  package func write(_ first: [ProducerRecord], then rest: [ProducerRecord]) async throws {
    switch writer {
    case .plain(let writer):
      for records in [first, rest] where !records.isEmpty { _ = try await writer.send(contentsOf: records) }
    case .transactional(let writer): try await commit(first + rest, writer)
    }
  }

  /// Writes records and a group's offsets in one transaction. Kafka takes the offsets of a client that has not joined the
  /// group also while the group has members.
  /// - Throws: `KafkaError`.
  package func write(
    _ records: [ProducerRecord], committing offsets: [CommittedOffset], of group: GroupMetadata
  ) async throws {
    guard case .transactional(let writer) = writer else {
      throw KafkaError(code: .unsupported, operation: "write", reason: "the cluster has no transactions")
    }
    try await commit(records, writer, offsets, of: group)
  }

  /// Writes records in one transaction, and repeats it if it is aborted.
  private func commit(
    _ records: [ProducerRecord], _ writer: any TransactionalLogWriter, _ offsets: [CommittedOffset] = [],
    of group: GroupMetadata? = nil
  ) async throws {
    let limit = WorkerWriter.transactionTimeout
    while true {
      try Task.checkCancellation()
      guard !writer.hasUnansweredRequest else { throw ClientIsOver() }
      do {
        try await again { try await writer.begin() }
        _ = try await writer.send(contentsOf: records)
        if let group { try await again { try await writer.sendOffsets(offsets, group: group, timeout: limit) } }
        return try await again { try await writer.commit(timeout: limit) }
      } catch let error as KafkaError where error.transactionRemedy != .replace && error.code != .messageTooLarge {
        do {
          try await again { try await writer.abort(timeout: limit) }
        } catch let abort as KafkaError where abort.code == .invalidTransactionState {
          // The broker has no transaction, because it refused every partition. The first error says why.
          throw error
        }
        guard error.code != .unknownMember, !error.isRefusal else { throw error }
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50)))
      } catch let error as KafkaError where ProducerLoss(error)?.reason == .fatal && writer.hasUnansweredRequest {
        // The client has lost count of its records with the answer.
        throw ClientIsOver()
      }
    }
  }

  /// Repeats a call until its result is final.
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
