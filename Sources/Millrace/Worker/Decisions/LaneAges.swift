// Since when a lane owes somebody something.

internal import AppStore

/// The oldest record of each source that was taken and is not finished.
///
/// One entry for each record in flight, and for those that were finished before one in front of them.
struct LaneAges: Sendable {
  private struct Entry: Sendable {
    var offset: Int64
    var since: Timestamp
  }

  private var sources = ByTopic<FIFO<Entry>>()

  /// Since when the oldest has been there; nil where nothing is left.
  var oldest: Timestamp? { sources.values.compactMap { $0.first?.since }.min() }

  /// Notes a record that was read.
  /// - Parameter since: From when its age counts: it was written, or was due.
  mutating func take(_ position: SourcePosition, since: Timestamp) {
    sources[sources.place(of: position.topic, default: FIFO())].append(Entry(offset: position.offset, since: since))
  }

  /// Forgets what lies before the offsets that are to be read next.
  mutating func finish(_ next: [SourcePosition]) {
    for position in next {
      guard let place = sources.place(of: position.topic) else { continue }
      while let first = sources[place].first, first.offset < position.offset { _ = sources[place].popFirst() }
    }
  }
}
