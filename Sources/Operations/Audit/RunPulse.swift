// When runs were last heard of. The audit trail has beginnings and ends, and a process that dies between the two writes
// neither; what it did until then stands in `millrace.operations` and `millrace.backfills`. Pure.

public import AppStore
public import Kafka
public import Millrace

/// The last that was heard of each run.
public struct RunPulse: Sendable, Hashable {
  /// The last that was heard of one.
  public struct Beat: Sendable, Hashable {
    /// When.
    public var at: Timestamp
    /// Whether an operator lets it wait: nothing is to be heard of it then.
    public var isPaused = false
  }

  private var beats: [String: Beat] = [:]
  // The runs of commands that are not finished: results name the command alone.
  private var runs: [String: String] = [:]

  /// Nothing was heard yet.
  public init() {}

  /// What was last heard of a run; nil: nothing.
  public subscript(run: String) -> Beat? { beats[run] }

  /// Takes the next record of `millrace.operations` in.
  public mutating func fold(_ record: ConsumerRecord) {
    if let operation = OperationsRecord(record) { fold(operation, writtenAt: record.writtenAt) }
  }

  /// Takes the next record of `millrace.operations` in.
  /// - Parameter time: When it was written: all commands of a run have the time at which it began.
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

  /// Takes the runs of `millrace.backfills` in, as they stand.
  public mutating func fold(_ table: BackfillTable) {
    for run in table.runs { beats[run.id] = Beat(at: run.updatedAt, isPaused: run.state == .paused) }
  }

  private mutating func beat(_ run: String, _ time: Timestamp) {
    let last = beats[run]
    beats[run] = Beat(at: max(time, last?.at ?? time), isPaused: last?.isPaused ?? false)
  }
}

extension ConsumerRecord {
  /// When Kafka has it that it was written.
  package var writtenAt: Timestamp? { timestamp.map { Timestamp(millisecondsSince1970: $0) } }
}

extension AuditEntry {
  /// Where something stands that was done on an operator's word.
  public enum Standing: Sendable, Hashable {
    /// Every part is over, or it was ended as a whole.
    case over(AuditRecord.Result)
    /// It is being done.
    case goingOn
    /// An operator lets it wait.
    case paused
    /// Nothing was heard of it since. Whoever does it has died, or waits for a worker that does not run.
    case silent(since: Timestamp)
  }

  /// How long nothing may be heard of what is being done.
  public static let patience = Duration.seconds(60)

  /// Where it stands.
  public func standing(_ pulse: RunPulse, at now: Timestamp) -> Standing {
    if let result { return .over(result) }
    let beat = pulse[run]
    if beat?.isPaused == true { return .paused }
    let heardAt = max(startedAt, endedAt ?? startedAt, beat?.at ?? startedAt)
    return now - heardAt < Self.patience ? .goingOn : .silent(since: heardAt)
  }
}
