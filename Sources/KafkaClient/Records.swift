/// A record header. A header without a value differs from one with an empty value.
public struct RecordHeader: Sendable, Hashable {
  /// The name. A record may have several headers with the same name.
  public var name: String
  /// The value; nil if the header has none.
  public var value: [UInt8]?

  /// Creates a header with bytes, or without a value.
  public init(name: String, value: [UInt8]?) {
    self.name = name
    self.value = value
  }

  /// Creates a header with UTF-8 text.
  public init(_ name: String, _ text: String) {
    self.init(name: name, value: Array(text.utf8))
  }
}

/// A record to write to Kafka.
public struct ProducerRecord: Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition; nil lets the partitioner (`murmur2_random`, Java's default) choose it by key.
  public var partition: Int32?
  /// The key, or nil. To the partitioner an empty key differs from no key.
  public var key: [UInt8]?
  /// The value; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [RecordHeader]
  /// The timestamp in milliseconds since 1970; nil: the time of writing.
  public var timestamp: Int64?

  /// Creates a record.
  public init(
    topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = [],
    timestamp: Int64? = nil
  ) {
    self.topic = topic
    self.partition = partition
    self.key = key
    self.value = value
    self.headers = headers
    self.timestamp = timestamp
  }
}

/// The position of a record in Kafka.
public struct RecordPosition: Sendable, Hashable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32
  /// The offset in the partition, from 0.
  public var offset: Int64

  /// Creates a position.
  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }

  /// `topic[partition]@offset`.
  public var description: String { "\(topic)[\(partition)]@\(offset)" }
}

/// A record that was read from Kafka.
public struct ConsumerRecord: Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32
  /// The offset in the partition, from 0.
  public var offset: Int64
  /// The timestamp in milliseconds since 1970, as defined by the topic's `message.timestamp.type`; nil if the broker
  /// sent none.
  public var timestamp: Int64?
  /// The key, or nil.
  public var key: [UInt8]?
  /// The value; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [RecordHeader]

  /// Creates a record, for tests and in-memory logs.
  public init(
    topic: String, partition: Int32, offset: Int64, timestamp: Int64?, key: [UInt8]?, value: [UInt8]?,
    headers: [RecordHeader] = []
  ) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.timestamp = timestamp
    self.key = key
    self.value = value
    self.headers = headers
  }
}

/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  /// Creates a partition of a topic.
  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// `topic[partition]`.
  public var description: String { "\(topic)[\(partition)]" }

  /// Orders by topic, then by number.
  public static func < (left: Self, right: Self) -> Bool {
    (left.topic, left.partition) < (right.topic, right.partition)
  }
}
