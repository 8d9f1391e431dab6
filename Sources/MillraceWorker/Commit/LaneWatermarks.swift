// The offsets that a lane may commit: one contiguous watermark for each topic it reads.

internal import KafkaClient

/// The watermarks of one lane, one for each source topic.
///
/// A record is finished only when its outcome is in Kafka. The offsets to send *with* an outcome come from
/// ``offsets(finishing:)``, which changes nothing, so an aborted transaction needs no cleanup.
struct LaneWatermarks: Sendable, Hashable {
  private var sources: ByTopic<OffsetWatermark>

  /// - Parameter starts: The first offset to read of each source: the committed offset, or the start position of the
  ///   group.
  init(startingAt starts: [String: Int64]) {
    sources = ByTopic(starts.mapValues { OffsetWatermark(startingAt: $0) })
  }

  /// The next offset to read of every source, sorted by topic. Every transaction sends all of them, because the group
  /// fences a zombie only when it commits offsets.
  var offsets: [SourcePosition] {
    zip(sources.topics, sources.values).map { SourcePosition(topic: $0, offset: $1.committable) }
  }

  /// Returns ``offsets`` as they will be once these records are finished too. Unknown records have no effect.
  func offsets(finishing positions: some Sequence<SourcePosition>) -> [SourcePosition] {
    var ahead = self
    for position in positions { ahead.finish(position) }
    return ahead.offsets
  }

  /// Adds a record that was read.
  /// - Returns: False if the record is not from this lane or was read before. It must not be handled then.
  mutating func take(_ position: SourcePosition) -> Bool {
    sources.place(of: position.topic).map { sources[$0].take(position.offset) } ?? false
  }

  /// Moves a source past offsets that hold no record, up to its end.
  /// - Returns: Whether its offset to commit has moved.
  mutating func skip(to end: Int64, of topic: String) -> Bool {
    sources.place(of: topic).map { sources[$0].skip(to: end) } ?? false
  }

  /// Marks a record as finished, because its outcome is in Kafka. Unknown records have no effect.
  mutating func finish(_ position: SourcePosition) {
    if let place = sources.place(of: position.topic) { sources[place].finish(position.offset) }
  }
}
