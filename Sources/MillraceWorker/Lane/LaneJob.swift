// The work of a lane for its handlers, from the queue of its key until its outcome is decided.

/// A record or a timer whose turn has come, until its outcome is decided. Its handler may run several times, or not at
/// all.
struct LaneJob: Sendable {
  /// The input of a handler. A lane runs one at a time for each key.
  enum Input: Sendable {
    case record(LaneItem)
    case timer(NamedTimer)
  }

  /// The number by which ``KeyedScheduler`` identifies the job.
  var number: UInt64
  var input: Input
  /// The digest of the outcome to replace, if the record is reapplied.
  var replacing: UInt32?
  /// Whether the lane commits its crash mark before the run, because it suspects a record or timer of killing the process.
  var needsCrashMark: Bool

  /// The value of the metric label `type`.
  var typeLabel: String {
    switch input {
    case .record(let item): item.typeLabel
    case .timer: FiredTimer.typeLabel
    }
  }
}

extension FiredTimer {
  /// The value of the metric label `type` for timers.
  static let typeLabel = "timer"

  init(_ named: NamedTimer) {
    self.init(
      name: named.name, at: named.timer.at, payload: named.timer.payload,
      key: String(decoding: named.timer.key, as: UTF8.self), attempt: named.timer.failures?.attempts ?? 0)
  }
}
