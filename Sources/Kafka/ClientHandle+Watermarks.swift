internal import CRDKafka

extension ClientHandle {
  /// Asks the broker for the oldest offset and the end, as far as this handle's isolation level sees it. Blocks.
  func watermarks(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Range<Int64> {
    var low: Int64 = 0
    var high: Int64 = 0
    let error = rd_kafka_query_watermark_offsets(
      rk, partition.topic, partition.partition, &low, &high, Int32(clamping: timeout.wholeMilliseconds))
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
      throw KafkaError(error, operation: "read watermarks of \(partition)")
    }
    return low..<max(low, high)
  }
}
