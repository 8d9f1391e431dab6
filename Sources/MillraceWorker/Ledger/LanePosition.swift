// Identifiers of records and lanes.

/// The position of a record in a lane. The lane is the partition.
struct SourcePosition: Sendable, Hashable, Comparable {
  /// The topic's name in Kafka.
  var topic: String
  /// The offset in the lane's partition of the topic.
  var offset: Int64

  static func < (left: Self, right: Self) -> Bool { (left.topic, left.offset) < (right.topic, right.offset) }

  /// Hashes only the offset: a lane has few topics, and hashing a name costs more than comparing two.
  func hash(into hasher: inout Hasher) { hasher.combine(offset) }
}

/// One period of ownership of a lane. Completions from an earlier epoch do not count.
struct LaneEpoch: Sendable, Hashable, Comparable {
  /// The partition number.
  var lane: Int32
  /// Increases with every start of a lane in this process.
  var epoch: UInt64

  static func < (left: Self, right: Self) -> Bool { (left.lane, left.epoch) < (right.lane, right.epoch) }
}
