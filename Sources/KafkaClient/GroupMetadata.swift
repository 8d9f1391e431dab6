internal import CRDKafka

/// A consumer's membership in a generation of its group, which transactions need to commit offsets (KIP-447).
///
/// It is opaque: `KafkaConsumer.groupMetadata()` creates it and `KafkaTransactionalProducer.sendOffsets` reads it. Logs
/// other than Kafka use a format of their own.
public struct GroupMetadata: Sendable, Hashable {
  /// The metadata in the format of the log's writer; for librdkafka, from `rd_kafka_consumer_group_metadata_write`.
  public let bytes: [UInt8]

  /// Creates metadata in the format of another log.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}

extension GroupMetadata {
  init(_ native: OpaquePointer) throws(KafkaError) {
    var buffer: UnsafeMutableRawPointer?
    var size = 0
    if let error = rd_kafka_consumer_group_metadata_write(native, &buffer, &size) {
      throw KafkaError(consuming: error, operation: "read the group's metadata")
    }
    self.init(bytes: Array(UnsafeRawBufferPointer(start: buffer, count: size)))
    rd_kafka_mem_free(nil, buffer)
  }

  /// Calls `body` with librdkafka's representation.
  func withNative<Value>(
    _ body: (OpaquePointer) throws(KafkaError) -> Value
  ) throws(KafkaError) -> Value {
    var native: OpaquePointer?
    if let error = rd_kafka_consumer_group_metadata_read(&native, bytes, bytes.count) {
      throw KafkaError(consuming: error, operation: "use the group's metadata")
    }
    guard let native else {
      throw KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG, operation: "use the group's metadata")
    }
    defer { rd_kafka_consumer_group_metadata_destroy(native) }
    return try body(native)
  }
}
