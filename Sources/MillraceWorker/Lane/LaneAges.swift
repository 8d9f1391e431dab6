// The age of the oldest unfinished record in a lane.

internal import AppStore
internal import DequeModule

/// The oldest unfinished record of each source.
///
/// It keeps one entry for each record in flight, and for each record that finished before an earlier one did.
struct LaneAges: Sendable {
  private struct Entry: Sendable {
    var offset: Int64
    var since: Timestamp
  }

  private var sources = ByTopic<Deque<Entry>>()

  /// The time from which the oldest record's age counts; nil if all records are finished.
  var oldest: Timestamp? { sources.values.compactMap { $0.first?.since }.min() }

  /// Adds a record that was read.
  /// - Parameter since: The time from which its age counts: when it was written, or when it was due.
  mutating func take(_ position: SourcePosition, since: Timestamp) {
    sources[sources.place(of: position.topic, default: Deque())].append(Entry(offset: position.offset, since: since))
  }

  /// Removes records before the offsets that will be read next.
  mutating func finish(_ next: [SourcePosition]) {
    for position in next {
      guard let place = sources.place(of: position.topic) else { continue }
      while let first = sources[place].first, first.offset < position.offset { _ = sources[place].popFirst() }
    }
  }
}
