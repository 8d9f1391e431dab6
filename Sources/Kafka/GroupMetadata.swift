internal import CRDKafka

/// A consumer's place in its group at one moment, as transactions need it (KIP-447).
///
/// Opaque: `KafkaConsumer.groupMetadata()` makes it and `KafkaTransactionalProducer.sendOffsets` reads it. Logs that
/// are not Kafka put bytes of their own in it.
public struct GroupMetadata: Sendable, Hashable {
  /// What the log's own writer understands; of librdkafka, `rd_kafka_consumer_group_metadata_write`'s format.
  public let bytes: [UInt8]

  /// Wraps what another log knows of its members.
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

  /// Lends librdkafka's form to `body`.
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
