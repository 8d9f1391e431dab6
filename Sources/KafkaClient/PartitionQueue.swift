internal import CRDKafka
internal import Synchronization

/// One assigned partition. Its records are pulled in batches, which provides back-pressure.
///
/// At most one task may call ``nextBatch(upTo:)`` at a time.
public final class PartitionQueue: @unchecked Sendable {
  // Sendable: `queue` is never reassigned and librdkafka locks it; everything else is Sendable.
  /// The partition.
  public let partition: TopicPartition

  private let handle: ClientHandle
  private let queue: OpaquePointer
  private let wake = AsyncSignal()
  private let isOpen = Atomic(true)
  /// Whether messages were taken since the last ``resumeFetching(timeout:)``.
  private let hasRoom = Atomic(false)
  private let leftOver = Mutex(LeftOver())

  /// The part of a batch from an error on. The next call throws the error, and the one after it returns the records.
  private struct LeftOver {
    var failure: KafkaError?
    var page = PartitionPage()
  }

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
    close()
    rd_kafka_queue_destroy(queue)
  }

  /// Returns the next records in order: at least one and at most `limit`. It does not wait for a full batch.
  ///
  /// Returns an empty batch once the partition was revoked, the consumer closed, or the task was cancelled. The next
  /// owner reads the records that were fetched and not returned.
  /// - Parameter limit: The maximum number of records, at least 1.
  /// - Throws: ``KafkaError`` if the partition cannot be read: there is no valid start offset, the topic was deleted,
  ///   or authorization was refused.
  public func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord] {
    while let page = try await nextPage(upTo: limit, choosing: nil) {
      if !page.records.isEmpty { return page.records }
    }
    return []
  }

  /// Returns the next page. Like ``nextBatch(upTo:)``, but it also returns when the end of the partition is reached,
  /// perhaps without a record, and returns nil instead of an empty batch. Reports ends only if `enable.partition.eof`
  /// is on.
  /// - Parameters:
  ///   - filter: Selects records; other records are only counted. It does not apply to records after an error.
  ///   - end: The offset from which on skipped records are not counted.
  package func nextPage(
    upTo limit: Int, choosing filter: HeaderFilter?, before end: Int64 = .max
  ) async throws(KafkaError) -> PartitionPage? {
    while isOpen.load(ordering: .acquiring), !Task.isCancelled {
      if let kept = try takeLeftOver() { return kept }
      let (page, count) = try take(max(1, limit), filter, end)
      if !page.isEmpty { return page }
      if count == 0 { await wake.wait() }
    }
    return nil
  }

  private func takeLeftOver() throws(KafkaError) -> PartitionPage? {
    let kept = leftOver.withLock { leftOver in
      defer {
        if leftOver.failure != nil { leftOver.failure = nil } else { leftOver.page = PartitionPage() }
      }
      return leftOver
    }
    if let failure = kept.failure { throw failure }
    return kept.page.isEmpty ? nil : kept.page
  }

  /// Takes the available messages and returns them with their number. Messages about temporary errors are skipped.
  private func take(
    _ limit: Int, _ filter: HeaderFilter?, _ end: Int64
  ) throws(KafkaError) -> (page: PartitionPage, count: Int) {
    var before = PartitionPage()
    var behind = LeftOver()
    typealias Message = UnsafeMutablePointer<rd_kafka_message_t>?
    let count = withUnsafeTemporaryAllocation(of: Message.self, capacity: limit) { messages in
      let count = rd_kafka_consume_batch_queue(queue, 0, messages.baseAddress, limit)
      guard count > 0 else { return 0 }
      if filter == nil { before.records.reserveCapacity(count) }
      for case let message? in messages.prefix(count) {
        defer { rd_kafka_message_destroy(message) }
        // A tombstone has no payload either; only `err` shows that a message is not a record.
        if message.pointee.err == RD_KAFKA_RESP_ERR__PARTITION_EOF {
          // Later records may follow; the newest end counts.
          if behind.failure == nil {
            before.end = message.pointee.offset
          } else {
            behind.page.end = message.pointee.offset
          }
        } else if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
          let failure = KafkaError(message.pointee.err, operation: "read \(partition)")
          // The broker is unavailable, moving or slow: librdkafka fetches again.
          if !failure.isRetriable { behind.failure = behind.failure ?? failure }
        } else if behind.failure == nil, let filter, !filter.matches(message) {
          before.next = message.pointee.offset + 1
          if message.pointee.offset < end { before.skipped += 1 }
        } else if behind.failure == nil {
          let headers = before.records.last?.headers ?? []
          before.records.append(ConsumerRecord(message, of: partition.topic, after: headers))
        } else {
          behind.page.records.append(ConsumerRecord(message, of: partition.topic))
        }
      }
      return count
    }
    if count > 0 { hasRoom.store(true, ordering: .relaxed) }
    guard behind.failure != nil else { return (before, count) }
    leftOver.withLock { $0 = behind }
    guard before.isEmpty, let kept = try takeLeftOver() else { return (before, count) }
    return (kept, count)
  }

  /// Makes librdkafka look at once whether this queue has room again. Does nothing if no record was taken since the last
  /// call.
  ///
  /// Before version 2.2, librdkafka does not notice that a full queue was emptied, and looks once a second. But the thread
  /// that fetches from a broker also looks when it sends a request, so this asks the partition's leader for an offset.
  package func resumeFetching(timeout: Duration) async throws(KafkaError) {
    guard hasRoom.exchange(false, ordering: .relaxed) else { return }
    _ = try await handle.blocking.run { [handle, partition] () throws(KafkaError) in
      try handle.offsets(
        [CommittedOffset(partition, offset: Int64(RD_KAFKA_OFFSET_END))], timeout: timeout,
        operation: "ask for the end of \(partition)")
    }
  }

  /// Ends reading and removes the callback from the queue. The queue belongs to the partition: after a rebalance, the
  /// next ``PartitionQueue`` of the partition sets its own callback.
  func close() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    QueueWakeUp.disable(on: queue, signal: wake)
    wake.signal()
  }

  func tick() { wake.signal() }
}

/// The records and positions that a partition returned in one call.
package struct PartitionPage: Sendable {
  /// The records, in order.
  package var records: [ConsumerRecord]
  /// The end of the partition, if it was reached. With `read_committed` it is the last stable offset: after aborted
  /// records and markers, before the first record of an open transaction.
  package var end: Int64?
  /// The number of records that the filter skipped before the end of the range.
  package var skipped = 0
  /// The offset after the last skipped record.
  package var next: Int64?

  package init(records: [ConsumerRecord] = [], end: Int64? = nil) {
    self.records = records
    self.end = end
  }

  var isEmpty: Bool { records.isEmpty && end == nil && next == nil }
}
