// What partitions hold, asked of their leaders: one request to each broker, however many of its partitions are asked about.
// Asked one after the other, as `rd_kafka_query_watermark_offsets` does, sixty partitions took seconds on a busy machine,
// and whoever waited for another answer meanwhile waited as long.

internal import CRDKafka

extension ClientHandle {
  /// Asks for the oldest offset and the end, as far as this handle's isolation level sees it. Blocks.
  func watermarks(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Range<Int64> {
    try watermarks(of: [partition], timeout: timeout)[partition] ?? 0..<0
  }

  /// The same of many partitions at once.
  func watermarks(
    of partitions: Set<TopicPartition>, timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    guard let first = partitions.first else { return [:] }
    let others = partitions.count > 1 ? " and \(partitions.count - 1) others" : ""
    let operation = "read watermarks of \(first)\(others)"
    // Kafka names the ends by times that cannot be, in a request each (KAFKA-1588).
    func ends(_ name: Int32) throws(KafkaError) -> [TopicPartition: Int64] {
      let wanted = partitions.map { CommittedOffset($0, offset: Int64(name)) }
      return try offsets(wanted, timeout: timeout, operation: operation)
    }
    let low = try ends(RD_KAFKA_OFFSET_BEGINNING)
    let high = try ends(RD_KAFKA_OFFSET_END)
    var found: [TopicPartition: Range<Int64>] = [:]
    for partition in partitions {
      guard let low = low[partition], let high = high[partition] else {
        throw KafkaError(
          code: .unsupported, operation: "read watermarks of \(partition)", reason: "the broker named no offset")
      }
      found[partition] = low..<max(low, high)
    }
    return found
  }

  /// Looks up offsets by time: each element's offset is a time, or the name of an end. Partitions without such an offset
  /// are absent. Blocks.
  func offsets(
    _ wanted: [CommittedOffset], timeout: Duration, operation: String
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    let list = TopicPartitionList(wanted)
    let error = rd_kafka_offsets_for_times(rk, list.native, Int32(clamping: timeout.wholeMilliseconds))
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, operation: operation) }
    var offsets: [TopicPartition: Int64] = [:]
    for element in UnsafePointer(list.native).elements {
      guard element.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
        throw KafkaError(element.err, operation: "\(operation): \(TopicPartition(element))")
      }
      if element.offset >= 0 { offsets[TopicPartition(element)] = element.offset }
    }
    return offsets
  }
}
