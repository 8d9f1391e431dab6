// Many partitions read backwards, told as one story, newest first. A value: what to read next and what can be told already.

internal import AppStore
internal import Kafka

/// The state of a telling.
struct StoryMerge: Sendable {
  /// Records of one partition that are to be read next.
  struct Step: Sendable, Hashable {
    var partition: TopicPartition
    var offsets: Range<Int64>
  }

  private struct Cursor: Sendable {
    /// What is not read yet.
    var unread: Range<Int64>
    /// No unread record is younger; nil before anything was read.
    var bound: Timestamp?
    /// Found and not told, the newest last.
    var found: [StoryEntry] = []
    var step: Int64
  }

  static let firstStep: Int64 = 500
  static let largestStep: Int64 = 8_000

  private var cursors: [TopicPartition: Cursor]
  private let since: Timestamp

  /// - Parameters:
  ///   - ranges: What each partition holds of the time that is told of, as far as offsets say.
  ///   - since: Nothing older is told.
  init(_ ranges: [TopicPartition: Range<Int64>], since: Timestamp) {
    cursors = ranges.filter { !$0.value.isEmpty }.mapValues { Cursor(unread: $0, step: Self.firstStep) }
    self.since = since
  }

  /// How many records are left to look at.
  var unread: Int64 { cursors.values.reduce(0) { $0 + Int64($1.unread.count) } }

  /// What to read before anything more can be told; nil when ``next()`` knows enough.
  var step: Step? {
    let newest = cursors.values.compactMap(\.found.last?.at).max()
    let open = cursors.filter { cursor in
      guard !cursor.value.unread.isEmpty else { return false }
      guard let newest, let bound = cursor.value.bound else { return true }
      return bound > newest
    }
    // The one that may hold the newest; of those that nothing is known of, by name.
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

  /// A step was read.
  /// - Parameters:
  ///   - entries: What of it belongs to the story, in the partition's order.
  ///   - oldest: When the first record of the step was written; nil where there was none.
  mutating func take(_ step: Step, _ entries: [StoryEntry], oldest: Timestamp?) {
    guard var cursor = cursors[step.partition] else { return }
    cursor.unread = cursor.unread.lowerBound..<max(cursor.unread.lowerBound, step.offsets.lowerBound)
    cursor.bound = oldest ?? cursor.bound
    cursor.found = entries.filter { $0.at >= since }.sorted { $0.at < $1.at } + cursor.found
    cursor.step = min(cursor.step * 2, Self.largestStep)
    // Where offsets cannot be looked up by time, this is how the past ends.
    if let oldest, oldest < since { cursor.unread = cursor.unread.lowerBound..<cursor.unread.lowerBound }
    cursors[step.partition] = cursor
  }

  /// The newest line that is not told yet; nil where ``step`` has to be read first, or everything is told.
  mutating func next() -> StoryEntry? {
    guard step == nil else { return nil }
    let newest = cursors.filter { !$0.value.found.isEmpty }.max { left, right in
      let times = (left.value.found.last?.at ?? since, right.value.found.last?.at ?? since)
      return times.0 != times.1 ? times.0 < times.1 : left.key > right.key
    }
    return newest.flatMap { cursors[$0.key]?.found.popLast() }
  }
}
