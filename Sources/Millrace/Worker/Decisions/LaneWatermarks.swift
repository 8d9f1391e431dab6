// What a lane may commit: one contiguous watermark for each topic it reads.

internal import Kafka

/// The watermarks of one lane, one for each source topic.
///
/// A record is finished when what followed from it is in Kafka, and never before: the offsets to be sent *with* an
/// outcome are asked by ``offsets(finishing:)``, which changes nothing, so that an aborted transaction leaves no trace.
struct LaneWatermarks: Sendable, Hashable {
  private var sources: ByTopic<OffsetWatermark>

  /// - Parameter starts: For each source the first offset that will be read: the committed one, or where the group
  ///   begins.
  init(startingAt starts: [String: Int64]) {
    sources = ByTopic(starts.mapValues { OffsetWatermark(startingAt: $0) })
  }

  /// Records that were taken and are not finished.
  var inFlight: Int { sources.values.reduce(0) { $0 + $1.inFlight } }

  /// The next offset a successor should read, for every source, sorted by topic. All of them go with every
  /// transaction: the group fences a zombie by offset commits only.
  var offsets: [SourcePosition] {
    zip(sources.topics, sources.values).map { SourcePosition(topic: $0, offset: $1.committable) }
  }

  /// What ``offsets`` will be once these records are finished too. Unknown ones change nothing.
  func offsets(finishing positions: some Sequence<SourcePosition>) -> [SourcePosition] {
    var ahead = self
    for position in positions { ahead.finish(position) }
    return ahead.offsets
  }

  /// Notes a record that was read.
  /// - Returns: false where it is not of this lane or was read before; it must not be handled then.
  mutating func take(_ position: SourcePosition) -> Bool {
    sources.place(of: position.topic).map { sources[$0].take(position.offset) } ?? false
  }

  /// Notes that what followed from a record is in Kafka. Unknown ones change nothing.
  mutating func finish(_ position: SourcePosition) {
    if let place = sources.place(of: position.topic) { sources[place].finish(position.offset) }
  }
}
