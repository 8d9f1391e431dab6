internal import CRDKafka
internal import Synchronization

/// One assigned partition: records are taken from it in batches, and not taking them is its back-pressure.
///
/// At most one task may call ``nextBatch(upTo:)`` at a time.
public final class PartitionQueue: @unchecked Sendable {
  // Sendable: `queue` is never reassigned and librdkafka locks it; everything else is Sendable.
  /// The partition.
  public let partition: TopicPartition

  private let handle: ClientHandle
  private let queue: OpaquePointer
  private let wake = WakeSignal()
  private let isOpen = Atomic(true)

  init?(_ partition: TopicPartition, of handle: ClientHandle) {
    guard let queue = rd_kafka_queue_get_partition(handle.rk, partition.topic, partition.partition) else {
      return nil
    }
    self.partition = partition
    self.handle = handle
    self.queue = queue
    rd_kafka_queue_forward(queue, nil)
    QueueWakeUp.enable(on: queue, signal: wake)
  }

  deinit {
    QueueWakeUp.disable(on: queue, signal: wake)
    rd_kafka_queue_destroy(queue)
  }

  /// The next records in order: at least one, at most `limit`, without waiting for more than there are.
  ///
  /// Returns an empty batch once the partition was revoked, the consumer closed or the task cancelled; records that
  /// were fetched and not taken by then are left to the successor.
  /// - Parameter limit: at least 1.
  /// - Throws: ``KafkaError`` where the partition cannot be read: no valid offset to start from, topic gone,
  ///   authorization refused.
  public func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord] {
    while isOpen.load(ordering: .acquiring), !Task.isCancelled {
      let batch = try take(max(1, limit))
      if !batch.isEmpty { return batch }
      await wake.wait()
    }
    return []
  }

  private func take(_ limit: Int) throws(KafkaError) -> [ConsumerRecord] {
    let taken: Result<[ConsumerRecord], KafkaError> = withUnsafeTemporaryAllocation(
      of: UnsafeMutablePointer<rd_kafka_message_t>?.self, capacity: limit
    ) { messages in
      let count = rd_kafka_consume_batch_queue(queue, 0, messages.baseAddress, limit)
      guard count > 0 else { return .success([]) }
      var records: [ConsumerRecord] = []
      records.reserveCapacity(count)
      var failure: KafkaError?
      for case let message? in messages.prefix(count) {
        defer { rd_kafka_message_destroy(message) }
        // A tombstone has no payload and no error; only `err` says that this is no record.
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
          records.append(ConsumerRecord(message))
        } else {
          failure = KafkaError(message.pointee.err, operation: "read \(partition)")
        }
      }
      if records.isEmpty, let failure { return .failure(failure) }
      return .success(records)
    }
    return try taken.get()
  }

  func close() {
    isOpen.store(false, ordering: .releasing)
    wake.signal()
  }

  func tick() { wake.signal() }
}
