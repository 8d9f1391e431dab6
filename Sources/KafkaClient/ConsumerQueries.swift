internal import CRDKafka

/// Queries of a consumer. Each is a blocking request with a time limit on the client's own thread.
extension KafkaConsumer {
  /// Returns the group's committed offsets; partitions without one are absent. Does not work after ``shutDown()``, when
  /// librdkafka only commits.
  public func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [CommittedOffset] {
    let operation = "read the committed offsets of \(group.map { "the group \($0)" } ?? "no group")"
    return try await handle.blocking.run { [handle] () throws(KafkaError) in
      let list = TopicPartitionList(partitions)
      let error = rd_kafka_committed(handle.rk, list.native, Int32(clamping: timeout.wholeMilliseconds))
      guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
        throw KafkaError(error, operation: operation)
      }
      // If access to a partition is refused, it is unknown whether an offset was committed.
      if let refused = UnsafePointer(list.native).elements.first(where: { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }) {
        throw KafkaError(
          refused.err, operation: "read the committed offset of \(TopicPartition(refused))")
      }
      return UnsafePointer(list.native).elements.filter { $0.offset >= 0 }.map { CommittedOffset($0) }
    }
  }

  /// Queries the offset of the oldest record and the *last stable offset*: the end of the readable records, before the
  /// first record of an open transaction.
  public func watermarks(
    of partition: TopicPartition, timeout: Duration
  ) async throws(KafkaError) -> Range<Int64> {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      try handle.watermarks(of: partition, timeout: timeout)
    }
  }

  /// Queries the oldest and last stable offsets of many partitions at once.
  public func watermarks(
    of partitions: Set<TopicPartition>, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      try handle.watermarks(of: partitions, timeout: timeout)
    }
  }

  /// Returns the offset of the first record of each partition that is not older than the given time.
  ///
  /// The time of a record is its timestamp, as defined by `message.timestamp.type`. An embedded cluster does not
  /// support lookups by time and answers as if there were no such record.
  /// - Parameter times: Times in milliseconds since 1970.
  /// - Returns: Offsets; partitions whose records are all older are absent.
  /// - Throws: ``KafkaError``; if only some partitions were refused, the error of the first.
  public func offsets(
    forTimes times: [TopicPartition: Int64], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    guard !times.isEmpty else { return [:] }
    let wanted = times.map { CommittedOffset($0.key, offset: $0.value) }
    let operation = "look up offsets by time in \(Set(times.keys.map(\.topic)).sorted().joined(separator: ", "))"
    return try await handle.blocking.run { [handle] () throws(KafkaError) in
      try handle.offsets(wanted, timeout: timeout, operation: operation)
    }
  }

  /// Returns the metadata with which a transactional producer commits offsets for this consumer's group: the group, the
  /// generation and this member.
  ///
  /// Call it again after each assignment. The broker refuses the metadata of an old generation, so that a member that
  /// missed a rebalance cannot overwrite its successor's commits.
  /// - Throws: ``KafkaError`` if the consumer has left its group.
  public func groupMetadata() async throws(KafkaError) -> GroupMetadata {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      guard let native = rd_kafka_consumer_group_metadata(handle.rk) else {
        throw KafkaError(
          code: .closed, operation: "read the group's metadata", reason: "the consumer is in no group")
      }
      defer { rd_kafka_consumer_group_metadata_destroy(native) }
      return try GroupMetadata(native)
    }
  }
}
