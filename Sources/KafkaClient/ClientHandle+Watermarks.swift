// Queries the oldest offset and the end of partitions with one request per broker, for all of its partitions. One
// request per partition, as with `rd_kafka_query_watermark_offsets`, took seconds for sixty partitions on a busy
// machine and delayed other queries of the client.

internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension ClientHandle {
  /// Returns the oldest offset and the end, as this handle's isolation level sees them. Blocks.
  func watermarks(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Range<Int64> {
    try watermarks(of: [partition], timeout: timeout)[partition] ?? 0..<0
  }

  /// Returns the oldest offset and the end of many partitions. Blocks.
  func watermarks(
    of partitions: Set<TopicPartition>, timeout: Duration
  ) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    guard let first = partitions.first else { return [:] }
    let others = partitions.count > 1 ? " and \(partitions.count - 1) others" : ""
    let operation = "read watermarks of \(first)\(others)"
    // Kafka encodes the two ends as special times, each with a request of its own (KAFKA-1588).
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
          code: .unsupported, operation: "read watermarks of \(partition)", reason: "the broker returned no offset")
      }
      found[partition] = low..<max(low, high)
    }
    return found
  }

  /// Looks up offsets by time. The offset of each element is a time or the special value of an end. Partitions without
  /// a matching offset are absent. Blocks, and asks again within the time limit while a partition has no known leader:
  /// librdkafka asks the broker that was the leader when it last read the metadata, once.
  func offsets(
    _ wanted: [CommittedOffset], timeout: Duration, operation: String
  ) throws(KafkaError) -> [TopicPartition: Int64] {
    let end = ContinuousClock.now.advanced(by: timeout)
    var backoff = Backoff(from: .milliseconds(50), upTo: .seconds(1))
    while true {
      let left = end - ContinuousClock.now
      do throws(KafkaError) {
        return try offsetsOnce(wanted, timeout: max(left, .milliseconds(1)), operation: operation)
      } catch {
        guard error.isRetriable, end - ContinuousClock.now > backoff.next() else { throw error }
        usleep(UInt32(clamping: backoff.last.wholeMilliseconds * 1_000))
      }
    }
  }

  private func offsetsOnce(
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
