internal import CRDKafka

/// The offset that a group has committed for a partition: the next one to read.
public struct CommittedOffset: Sendable, Hashable {
  /// The partition.
  public var partition: TopicPartition
  /// The next offset to read.
  public var offset: Int64
  /// Text that is stored with the offset, at most 4096 bytes on a broker with default settings. Longer text is omitted,
  /// so that it cannot fail the commit.
  public var metadata: String

  /// Creates an offset to commit.
  public init(_ partition: TopicPartition, offset: Int64, metadata: String = "") {
    self.partition = partition
    self.offset = offset
    self.metadata = metadata
  }

  /// The broker's default `offset.metadata.max.bytes`.
  public static let maximumMetadataBytes = 4096
}

/// A list of librdkafka that exists for one call.
struct TopicPartitionList: ~Copyable {
  let native: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  init(capacity: Int = 0) { native = rd_kafka_topic_partition_list_new(Int32(clamping: capacity)) }

  init(_ partitions: some Collection<TopicPartition>) {
    self.init(capacity: partitions.count)
    for partition in partitions { add(partition, offset: Int64(RD_KAFKA_OFFSET_INVALID)) }
  }

  init(_ offsets: [CommittedOffset]) {
    self.init(capacity: offsets.count)
    for committed in offsets {
      guard let element = add(committed.partition, offset: committed.offset) else { continue }
      var metadata = committed.metadata
      guard !metadata.isEmpty, metadata.utf8.count <= CommittedOffset.maximumMetadataBytes else { continue }
      metadata.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { millrace_set_metadata(element, $0.baseAddress, $0.count) }
      }
    }
  }

  @discardableResult
  func add(
    _ partition: TopicPartition, offset: Int64
  ) -> UnsafeMutablePointer<rd_kafka_topic_partition_t>? {
    let element = rd_kafka_topic_partition_list_add(native, partition.topic, partition.partition)
    element?.pointee.offset = offset
    return element
  }

  deinit { rd_kafka_topic_partition_list_destroy(native) }
}

extension UnsafePointer<rd_kafka_topic_partition_list_t> {
  var elements: UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    UnsafeBufferPointer(start: pointee.elems, count: Int(pointee.cnt))
  }
}

extension TopicPartition {
  init(_ native: rd_kafka_topic_partition_t) {
    self.init(
      topic: native.topic.map { String(cString: $0) } ?? "", partition: native.partition)
  }
}

extension CommittedOffset {
  init(_ native: rd_kafka_topic_partition_t) {
    let text = native.metadata.map {
      String(decoding: UnsafeRawBufferPointer(start: $0, count: native.metadata_size), as: UTF8.self)
    }
    self.init(TopicPartition(native), offset: native.offset, metadata: text ?? "")
  }
}
