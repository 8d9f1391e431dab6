internal import CRDKafka

/// What a consumer can ask of the cluster beside reading: each is one bounded, blocking request on its own thread.
extension KafkaConsumer {
  /// What the group has committed; partitions without a commit are absent. Not answered any more once
  /// ``shutDown()`` was called: librdkafka then only commits.
  public func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [CommittedOffset] {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      let list = TopicPartitionList(partitions)
      let error = rd_kafka_committed(handle.rk, list.native, Int32(clamping: timeout.wholeMilliseconds))
      guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
        throw KafkaError(error, operation: "read committed offsets")
      }
      // Of one that may not be read it is not known that nothing was committed.
      if let refused = UnsafePointer(list.native).elements.first(where: { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }) {
        throw KafkaError(
          refused.err, operation: "read the committed offset of \(TopicPartition(refused))")
      }
      return UnsafePointer(list.native).elements.filter { $0.offset >= 0 }.map { CommittedOffset($0) }
    }
  }

  /// The offsets of the oldest record and behind the newest one that can be read, asked of the broker: the *last stable
  /// offset*, before the first record of a transaction that is open.
  public func watermarks(
    of partition: TopicPartition, timeout: Duration
  ) async throws(KafkaError) -> Range<Int64> {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      try handle.watermarks(of: partition, timeout: timeout)
    }
  }

  /// The same of many partitions, asked together.
  public func watermarks(
    of partitions: Set<TopicPartition>, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await handle.blocking.run { [handle] () throws(KafkaError) in
      try handle.watermarks(of: partitions, timeout: timeout)
    }
  }

  /// The first record of each partition that is not older than the given time: where a reader starts that wants
  /// everything since then.
  ///
  /// "Time" is the record's timestamp, so what `message.timestamp.type` makes of it. An embedded cluster cannot look
  /// up by time and answers as if there were no such record.
  /// - Parameter times: milliseconds since 1970.
  /// - Returns: offsets; partitions whose records are all older are absent.
  /// - Throws: ``KafkaError``; where one partition was refused and others not, its error.
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

  /// What a transactional producer needs to commit offsets on behalf of this consumer's group: the group, the
  /// generation and this member in it.
  ///
  /// Ask again after each assignment. The broker refuses the metadata of a generation that has passed, which is what
  /// keeps a member that missed a rebalance from committing over its successor.
  /// - Throws: ``KafkaError`` where the consumer has left its group.
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
