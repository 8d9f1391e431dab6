// Carries out the commands of a replay in a worker that writes to memory only, and reports what became of the records.

package import AppStore
internal import KafkaClient
internal import MillraceCore
package import MillraceRecords
internal import MillraceTime
internal import Synchronization

/// The result of a dry run.
package struct DryRunReport: Sendable, Hashable {
  /// The number of records that the run would send.
  package var sent: Int64
  /// The expected outcome of these records.
  package var outcome: RunOutcome
  /// The number of superseded records for which the run publishes nothing. The events of the first run stay.
  package var supersededByNothing: Int
  /// The number of timers whose handlers asked for an effect or a call.
  package var timersThatWouldCall: Int
  /// The first records whose outcome is another one.
  package var differences: [RunDifference]

  /// The report as JSON.
  package var json: JSONObject {
    var json = outcome.json(of: sent)
    json["wouldCall"] = .integer(outcome[.wouldCall])
    json["supersededByNothing"] = .integer(Int64(supersededByNothing))
    json["timersThatWouldCall"] = .integer(Int64(timersThatWouldCall))
    json["differences"] = .array(differences.map { .object($0.json) })
    return json
  }
}

/// Notes what a dry run shows beside its counts.
package final class DryRunJournal: Sendable {
  private struct State {
    var timers: Set<String> = []
    var supersededByNothing = 0
    var differences: [RunDifference] = []
    var failure: MillraceError?
  }

  private let shown: Int
  private let state = Mutex(State())

  /// - Parameter shown: The number of differences to keep.
  package init(showing shown: Int = 0) { self.shown = shown }

  /// Notes a timer whose handler asked for an effect or a call.
  func wouldCall(_ timer: String) { state.withLock { _ = $0.timers.insert(timer) } }

  /// Notes how a record ended.
  /// - Parameter records: The records that the outcome writes.
  func ended(_ item: LaneItem, _ ending: RunOutcome.Ending, _ records: [ProducerRecord]) {
    guard ending != .unchanged, ending != .skipped else { return }
    state.withLock { state in
      if ending == .superseded, records.isEmpty { state.supersededByNothing += 1 }
      guard state.differences.count < shown else { return }
      state.differences.append(
        RunDifference(
          notification: item.id, position: item.history.first, written: item.firstWritten, ending: ending,
          new: records.map { RunDifference.Entry($0) }))
    }
  }

  /// Ends the dry run.
  func fail(_ error: MillraceError) { state.withLock { $0.failure = $0.failure ?? error } }
  var failure: MillraceError? { state.withLock(\.failure) }

  var timers: Int { state.withLock { $0.timers.count } }
  var supersededByNothing: Int { state.withLock(\.supersededByNothing) }
  var differences: [RunDifference] { state.withLock(\.differences) }
}

/// Runs a worker on an overlay.
package enum DryRun {
  /// The number of bytes of records that a dry run keeps in memory.
  package static let memoryLimit = 1 << 30
  private static let pause = Duration.milliseconds(10)

  /// Executes commands, and returns when no record is due.
  ///
  /// - Parameters:
  ///   - commands: The parts of one run.
  ///   - base: The log, which is only read.
  ///   - shown: The number of differences to report.
  ///   - makeRuntime: Creates the worker on the overlay.
  /// - Throws: ``MillraceError`` if a part fails or the overlay has no more room; the error that stopped the worker.
  package static func run(
    _ commands: [OperationCommand], of topics: WorkerTopics, on base: any RecordLog, showing shown: Int = 0,
    memoryLimit: Int = memoryLimit,
    runtime makeRuntime: @escaping @Sendable (OverlayLog, DryRunJournal) async throws -> WorkerRuntime
  ) async throws -> DryRunReport {
    // The commands, delayed records and copies of others are none of this run's business.
    let overlay = OverlayLog(
      base, hiding: Set([topics.operations, topics.control, topics.replay] + topics.retries), limit: memoryLimit)
    let journal = DryRunJournal(showing: shown)
    try await overlay.append(commands.map { OperationsRecord.command($0).producerRecord(topics.operations) })
    let runtime = try await makeRuntime(overlay, journal)
    let sent = try await withThrowingTaskGroup(of: Int64?.self) { group in
      group.addTask {
        try await runtime.run()
        return nil
      }
      group.addTask { try await waitForEnd(of: commands, topics, overlay, runtime, journal) }
      defer { group.cancelAll() }
      guard let sent = try await group.next() ?? nil else {
        throw MillraceError(
          .lifecycle, "the worker ended before the dry run did", at: topics.worker, remedy: "read the worker's log")
      }
      return sent
    }
    var outcome = RunOutcome()
    if let run = commands.first?.replayID { outcome = try await .read(run, topics, in: overlay) }
    return DryRunReport(
      sent: sent, outcome: outcome, supersededByNothing: journal.supersededByNothing,
      timersThatWouldCall: journal.timers,
      differences: try await RunDifference.completed(journal.differences, topics, from: base))
  }

  /// Waits until every part has ended and no record is due.
  /// - Returns: The number of records sent.
  private static func waitForEnd(
    of commands: [OperationCommand], _ topics: WorkerTopics, _ overlay: OverlayLog, _ runtime: WorkerRuntime,
    _ journal: DryRunJournal
  ) async throws -> Int64 {
    var parts = OperationsLog(worker: topics.worker)
    var read = 0
    while true {
      try overlay.check()
      if let failure = journal.failure { throw failure }
      let records = overlay.written(to: topics.operations)
      for record in records.dropFirst(read) {
        if let operation = OperationsRecord(record) { _ = parts.fold(operation) }
      }
      read = records.count
      let statuses = commands.compactMap { parts.status(of: $0.item) }
      if let failed = statuses.first(where: { $0.failure != nil }), let why = failed.failure {
        throw MillraceError(.lifecycle, why, at: "lane \(failed.command.lane)", remedy: "select other records")
      }
      if statuses.count == commands.count, statuses.allSatisfy({ !$0.isOpen }), let rest = await runtime.rest(),
        rest.isQuiet
      {
        let ends = overlay.ends
        if rest.taken.allSatisfy({ $0.value >= ends[$0.key] ?? 0 }) {
          try overlay.check()
          return statuses.reduce(0) { $0 + $1.sent }
        }
      }
      try await MillraceClock.system.sleep(for: pause)
    }
  }
}
