// Merges partitions that are read backwards into one timeline, newest entry first. A value without I/O: it decides which
// range to read next and which entries are already in order.

internal import AppStore
internal import KafkaClient

/// A merge of partitions by timestamp, in descending order.
struct TimelineMerge: Sendable {
  /// A range of offsets to read next.
  struct Step: Sendable, Hashable {
    var partition: TopicPartition
    var offsets: Range<Int64>
  }

  private struct Cursor: Sendable {
    var unread: Range<Int64>
    /// An upper bound of the timestamps of unread records; nil before the first step.
    var bound: Timestamp?
    /// Entries that `next()` has not returned yet, the newest last.
    var found: [TimelineEntry] = []
    var step: Int64
  }

  static let firstStep: Int64 = 500
  static let largestStep: Int64 = 8_000

  private var cursors: [TopicPartition: Cursor]
  private let since: Timestamp

  /// - Parameters:
  ///   - ranges: The offsets of each partition that may be new enough.
  ///   - since: The merge leaves out older entries.
  init(_ ranges: [TopicPartition: Range<Int64>], since: Timestamp) {
    cursors = ranges.filter { !$0.value.isEmpty }.mapValues { Cursor(unread: $0, step: Self.firstStep) }
    self.since = since
  }

  /// The number of records that are still to be read.
  var unread: Int64 { cursors.values.reduce(0) { $0 + Int64($1.unread.count) } }

  /// The range to read before ``next()`` can return another entry; nil if nothing has to be read first.
  var step: Step? {
    let newest = cursors.values.compactMap(\.found.last?.at).max()
    let open = cursors.filter { cursor in
      guard !cursor.value.unread.isEmpty else { return false }
      guard let newest, let bound = cursor.value.bound else { return true }
      return bound > newest
    }
    // Partitions that were not read yet come first, by name; then the one that may hold the newest entry.
    let first = open.min { left, right in
      switch (left.value.bound, right.value.bound) {
      case (nil, nil): left.key < right.key
      case (nil, _): true
      case (_, nil): false
      case (let one?, let other?): one != other ? one > other : left.key < right.key
      }
    }
    guard let first else { return nil }
    let unread = first.value.unread
    return Step(
      partition: first.key,
      offsets: max(unread.lowerBound, unread.upperBound - first.value.step)..<unread.upperBound)
  }

  /// Adds the result of a step.
  /// - Parameters:
  ///   - entries: The step's entries, in offset order.
  ///   - oldest: The timestamp of the step's first record; nil if it has none.
  mutating func add(_ step: Step, _ entries: [TimelineEntry], oldest: Timestamp?) {
    guard var cursor = cursors[step.partition] else { return }
    cursor.unread = cursor.unread.lowerBound..<max(cursor.unread.lowerBound, step.offsets.lowerBound)
    cursor.bound = oldest ?? cursor.bound
    cursor.found = entries.filter { $0.at >= since }.sorted { $0.at < $1.at } + cursor.found
    cursor.step = min(cursor.step * 2, Self.largestStep)
    // Clusters without a lookup by time return older records too. Stop at the first of them.
    if let oldest, oldest < since { cursor.unread = cursor.unread.lowerBound..<cursor.unread.lowerBound }
    cursors[step.partition] = cursor
  }

  /// Returns the next older entry; nil if ``step`` has to be read first or no entry is left.
  mutating func next() -> TimelineEntry? {
    guard step == nil else { return nil }
    let newest = cursors.filter { !$0.value.found.isEmpty }.max { left, right in
      let times = (left.value.found.last?.at ?? since, right.value.found.last?.at ?? since)
      return times.0 != times.1 ? times.0 < times.1 : left.key > right.key
    }
    return newest.flatMap { cursors[$0.key]?.found.popLast() }
  }
}
