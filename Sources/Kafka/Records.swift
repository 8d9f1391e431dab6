/// One header of a record. A header without a value is not the same as one with an empty value.
public struct RecordHeader: Sendable, Hashable {
  /// The name; Kafka allows the same name more than once.
  public var name: String
  /// The value, or nil where the header has none.
  public var value: [UInt8]?

  /// A header with bytes, or without a value.
  public init(name: String, value: [UInt8]?) {
    self.name = name
    self.value = value
  }

  /// A header whose value is text in UTF-8.
  public init(_ name: String, _ text: String) {
    self.init(name: name, value: Array(text.utf8))
  }
}

/// A record on its way to Kafka.
public struct ProducerRecord: Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition, or nil to let the partitioner (`murmur2_random`, Java's default) choose by key.
  public var partition: Int32?
  /// The key, or nil. An empty key and no key are different to the partitioner.
  public var key: [UInt8]?
  /// The value; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [RecordHeader]
  /// Milliseconds since 1970, or nil for the time of writing.
  public var timestamp: Int64?

  /// A record; only the topic is required.
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

/// Where Kafka put a record.
public struct RecordPosition: Sendable, Hashable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32
  /// The offset inside the partition, from 0.
  public var offset: Int64

  /// Names a position.
  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }

  /// `topic[partition]@offset`.
  public var description: String { "\(topic)[\(partition)]@\(offset)" }
}

/// A record as read from Kafka.
public struct ConsumerRecord: Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32
  /// The offset inside the partition, from 0.
  public var offset: Int64
  /// Milliseconds since 1970 as the topic's `message.timestamp.type` says; nil where the broker sent none.
  public var timestamp: Int64?
  /// The key, or nil.
  public var key: [UInt8]?
  /// The value; nil is a tombstone.
  public var value: [UInt8]?
  /// The headers, in order.
  public var headers: [RecordHeader]

  /// Makes a record, for tests and in-memory logs.
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

  /// Names a partition.
  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// `topic[partition]`.
  public var description: String { "\(topic)[\(partition)]" }

  /// By topic, then by number.
  public static func < (left: Self, right: Self) -> Bool {
    (left.topic, left.partition) < (right.topic, right.partition)
  }
}
