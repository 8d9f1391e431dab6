// The latest activity of each run. A process that dies writes no end to the audit trail; its activity until then is in
// `millrace.operations` and `millrace.backfills`. Pure.

package import AppStore
package import KafkaClient
package import MillraceRecords
package import MillraceWorker

/// The latest activity of each run.
package struct RunHeartbeat: Sendable, Hashable {
  /// The latest activity of one run.
  package struct LastSeen: Sendable, Hashable {
    /// The time of the activity.
    package var at: Timestamp
    /// Whether an operator paused the run, which explains silence.
    package var isPaused = false
  }

  private var beats: [String: LastSeen] = [:]
  // The run of each unfinished command: a result names only its command.
  private var runs: [String: String] = [:]

  /// No activity.
  package init() {}

  /// The latest activity of a run; nil if there is none.
  package subscript(run: String) -> LastSeen? { beats[run] }

  /// Adds the next record of `millrace.operations`.
  package mutating func fold(_ record: ConsumerRecord) {
    if let operation = OperationsRecord(record) { fold(operation, writtenAt: record.writtenAt) }
  }

  /// Adds the next record of `millrace.operations`.
  /// - Parameter time: The time of writing. A command itself carries only the time at which its run began.
  package mutating func fold(_ operation: OperationsRecord, writtenAt time: Timestamp?) {
    switch operation {
    case .command(let command):
      guard let run = command.run else { return }
      runs[command.id] = run
      beat(run, time ?? command.at)
    case .result(let result):
      guard let run = runs[result.command] else { return }
      if case .progress = result.outcome {} else { runs[result.command] = nil }
      beat(run, time ?? result.at)
    case .control(let control):
      beat(control.run, time ?? control.at)
      beats[control.run]?.isPaused = control.verb == .pause
    }
  }

  /// Adds the runs of `millrace.backfills`.
  package mutating func fold(_ table: BackfillTable) {
    for run in table.runs { beats[run.id] = LastSeen(at: run.updatedAt, isPaused: run.state == .paused) }
  }

  private mutating func beat(_ run: String, _ time: Timestamp) {
    let last = beats[run]
    beats[run] = LastSeen(at: max(time, last?.at ?? time), isPaused: last?.isPaused ?? false)
  }
}

extension ConsumerRecord {
  /// The record's Kafka timestamp.
  package var writtenAt: Timestamp? { timestamp.map { Timestamp(millisecondsSince1970: $0) } }
}

extension AuditEntry {
  /// The status of an action.
  package enum Status: Sendable, Hashable {
    /// Every part has finished, or the run was ended as a whole.
    case over(AuditRecord.Result)
    /// The action is running.
    case goingOn
    /// An operator paused it.
    case paused
    /// No activity since the given time. Its process has died, or it waits for a worker that is not running.
    case silent(since: Timestamp)
  }

  /// The time without activity after which a run counts as silent.
  package static let patience = Duration.seconds(60)

  /// The status at a given time.
  package func status(_ pulse: RunHeartbeat, at now: Timestamp) -> Status {
    if let result { return .over(result) }
    let beat = pulse[run]
    if beat?.isPaused == true { return .paused }
    let heardAt = max(startedAt, endedAt ?? startedAt, beat?.at ?? startedAt)
    return now - heardAt < Self.patience ? .goingOn : .silent(since: heardAt)
  }
}
