// How the decisions of a lane name things.

/// A record a lane took, by source: the lane is the partition.
struct SourcePosition: Sendable, Hashable, Comparable {
  /// The topic's name in Kafka.
  var topic: String
  /// The offset inside the lane's partition of it.
  var offset: Int64

  static func < (left: Self, right: Self) -> Bool { (left.topic, left.offset) < (right.topic, right.offset) }

  /// By the offset alone: a lane has few topics, and hashing a name costs more than telling two apart.
  func hash(into hasher: inout Hasher) { hasher.combine(offset) }
}

/// A lane during one time of ownership. What was begun in one epoch counts for nothing in the next.
struct LaneEpoch: Sendable, Hashable, Comparable {
  /// The partition's number.
  var lane: Int32
  /// Rises with every start of a lane in this process.
  var epoch: UInt64

  static func < (left: Self, right: Self) -> Bool { (left.lane, left.epoch) < (right.lane, right.epoch) }
}
