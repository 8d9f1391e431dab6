// What became of the records that a run wrote to topics that workers read. Such a run is not the worker's own, so no lane
// counts it: the records name the run, and the worker's offsets and ledger say what it did with them.

package import AppStore
internal import KafkaClient
package import MillraceRecords
package import MillraceTime

/// The records of a run, by what one worker did with them.
package struct RunSurvey: Sendable, Hashable {
  /// The worker.
  package var worker: String
  /// The number of notifications that the run wrote to topics of the worker.
  package var sent: Int64 = 0
  /// How they ended.
  package var outcome = RunOutcome()
  /// The number of notifications that the worker has read and whose outcome its ledger does not have or no longer has.
  package var unknown: Int64 = 0

  private static let timeout = Duration.seconds(15)

  /// One notification, as the run wrote it.
  private struct Sent: Sendable {
    var partition: TopicPartition
    var offset: Int64
    var minute: UInt32
  }

  /// Reads what became of a run's records.
  ///
  /// - Parameters:
  ///   - start: When the run started.
  ///   - topics: The topics that the run writes to, by their names in Kafka.
  ///   - workers: The workers that may read them.
  ///   - prefix: The prefix of every topic's name.
  ///   - clock: The clock of the records and of the workers.
  ///   - limit: The largest number of notifications to keep in memory; nil for no limit.
  /// - Returns: A survey of each worker that reads one of the topics with records. Empty if no record of the run is there,
  ///   nil if there are more than the limit.
  /// - Throws: `KafkaError`; `CancellationError`.
  package static func read(
    _ run: String, since start: Timestamp, in topics: [String], of workers: [String], prefix: String,
    clock: MillraceClock, log: any RecordLog, limit: Int? = nil
  ) async throws -> [RunSurvey]? {
    let sent: [LedgerKey: Sent]
    do {
      sent = try await Self.sent(by: run, since: start, in: topics, clock: clock, log: log, limit: limit)
    } catch is Full {
      return nil
    }
    guard !sent.isEmpty else { return [] }
    let partitions = Set(sent.values.map(\.partition)).sorted()
    var surveys: [RunSurvey] = []
    for worker in workers {
      let names = WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix)
      // This reader is never run, so it never joins the group. The offsets are read before the ledger, which has the
      // outcome of each record before them.
      let reader = try log.makeReader(group: names.group, topics: [], options: LogReaderOptions())
      let committed = try await reader.committed(partitions, timeout: timeout)
      let next = Dictionary(committed.map { ($0.partition, $0.offset) }) { $1 }
      // A worker has no offset in topics that it does not read.
      guard !next.isEmpty else { continue }
      let ledger = try await LedgerOutcomes.read(of: Set(sent.keys), by: names, in: log)
      var survey = RunSurvey(worker: worker)
      for (id, record) in sent {
        guard let next = next[record.partition] else { continue }
        survey.count(record, ledger[id], isRead: record.offset < next)
      }
      surveys.append(survey)
    }
    return surveys
  }

  /// There are more notifications than the limit.
  private struct Full: Error {}

  /// Returns the notifications of a run in topics.
  /// - Throws: ``Full``; `KafkaError`; `CancellationError`.
  private static func sent(
    by run: String, since start: Timestamp, in topics: [String], clock: MillraceClock, log: any RecordLog, limit: Int?
  ) async throws -> [LedgerKey: Sent] {
    let name = Array(run.utf8)
    return try await log.fold(topics, since: start, by: clock, into: [LedgerKey: Sent]()) { sent, record in
      guard record.headers.contains(where: { $0.name == AuditRecord.runHeader && $0.value == name }),
        let id = NotificationEnvelope(record.headers).id
      else { return }
      let key = LedgerKey(id: id)
      // A run that was interrupted writes some notifications twice. The worker skips the second.
      guard sent[key] == nil else { return }
      if let limit, sent.count >= limit { throw Full() }
      let partition = TopicPartition(topic: record.topic, partition: record.partition)
      sent[key] = Sent(
        partition: partition, offset: record.offset, minute: Handled.minute(of: record.time(by: clock) ?? start))
    }
  }

  /// Counts a record by the ledger's entry of its notification.
  private mutating func count(_ record: Sent, _ handled: Handled?, isRead: Bool) {
    sent += 1
    guard let handled else {
      unknown += isRead ? 1 : 0
      return
    }
    let ending: RunOutcome.Ending? =
      switch handled.state {
      case .delayed: nil
      case _ where handled.minute < record.minute: .skipped
      case .done: .new
      case .dead: .dead
      }
    if let ending { outcome.records[ending, default: 0] += 1 }
  }

  /// The counts as JSON. The ledger does not tell the number of events.
  package var json: JSONObject {
    var json = outcome.json(of: sent - unknown)
    json["records"] = .integer(sent)
    json["events"] = nil
    if unknown > 0 { json["unknown"] = .integer(unknown) }
    return json
  }
}
