// What a lane tells about itself: to its supervisor, to `/readyz` and to metrics.

/// The work that a lane holds.
struct LaneRest: Sendable {
  /// The offset after the last record that was read, by source.
  var taken: [String: Int64]
  /// Whether no handler is ready or running, except in a wait, and nothing is due or being committed.
  var isQuiet: Bool
  /// Whether nothing is due or being committed. Handlers may still run.
  var isStill: Bool
  /// The number of running handlers, without those that wait for a rate-limit slot.
  var handlers: Int
  /// The number of calls that wait for a rate-limit slot.
  var waits: Int
  /// The number of records in memory, and of writes that are not committed.
  var held: Int
}

/// How far a lane has come in its sources.
struct LaneProgress: Sendable {
  struct Source: Sendable, Hashable {
    /// The offset up to which the lane has read.
    var read: Int64
    /// The offset that the group has committed.
    var committed: Int64
    /// The number of offsets that the lane passed without a record: transaction markers, aborted and deleted records.
    var passed: Int64
    /// The newest record that the lane has read.
    var newest: RecordFingerprint?
    /// An earlier record, from before the topic was last recognized.
    var anchor: RecordFingerprint?
  }

  var sources: [String: Source]
  /// The age of the oldest unfinished record; zero if there is none.
  var age: Duration
  /// The number of timers whose last run failed and that will run again.
  var failingTimers: Int
}

extension LaneProgress.Source {
  /// The facts by which the lane recognizes the source.
  var memory: PartitionMemory { PartitionMemory(end: read, record: anchor.map { .source($0) }) }

  /// Returns the offsets that were deleted before the lane has read them: those that it has still to read, and those that
  /// Kafka let it skip since an earlier measurement. Nil if there are none.
  ///
  /// Some of the passed offsets had no record, so the range is an upper bound. If the lane has started again between the
  /// measurements, it has passed fewer offsets than before.
  func lost(since last: Self, before oldest: Int64) -> Range<Int64>? {
    let unread = max(0, oldest - read)
    let count = min(unread + passed - last.passed, oldest - last.read)
    return count > 0 ? oldest - count..<oldest : nil
  }
}
