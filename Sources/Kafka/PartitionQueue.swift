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
  private let seenEnd = Atomic<Int64>(-1)
  private let leftOver = Mutex(LeftOver())

  /// What a batch held behind an error: the error is thrown by the next call, the records are returned by the one after.
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

  /// Where the partition ended when its reader last came there: behind ends of transactions and aborted records too,
  /// which no batch tells of. nil before that, and where `enable.partition.eof` is off.
  public var end: Int64? {
    let offset = seenEnd.load(ordering: .relaxed)
    return offset < 0 ? nil : offset
  }

  /// The next records in order: at least one, at most `limit`, without waiting for more than there are.
  ///
  /// Returns an empty batch once the partition was revoked, the consumer closed or the task cancelled; records that
  /// were fetched and not taken by then are left to the successor.
  /// - Parameter limit: at least 1.
  /// - Throws: ``KafkaError`` where the partition cannot be read: no valid offset to start from, topic gone,
  ///   authorization refused.
  public func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord] {
    while let page = try await nextPage(upTo: limit) {
      if !page.records.isEmpty { return page.records }
    }
    return []
  }

  /// Like ``nextBatch(upTo:)``, and also returns, perhaps without a record, when the end of the partition is reached;
  /// nil where that returns an empty batch. Ends are told where `enable.partition.eof` is on.
  /// - Parameters:
  ///   - filter: What it does not choose is counted and left out. Records behind an error are not looked at.
  ///   - end: From this offset on nothing is counted.
  package func nextPage(
    upTo limit: Int, choosing filter: HeaderFilter? = nil, before end: Int64 = .max
  ) async throws(KafkaError) -> PartitionPage? {
    while isOpen.load(ordering: .acquiring), !Task.isCancelled {
      if let kept = try takeLeftOver() { return told(kept) }
      let (page, count) = try take(max(1, limit), filter, end)
      if !page.isEmpty { return told(page) }
      if count == 0 { await wake.wait() }
    }
    return nil
  }

  private func told(_ page: PartitionPage) -> PartitionPage {
    if let end = page.end { seenEnd.store(end, ordering: .relaxed) }
    return page
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

  /// What is there, and how many messages that was: those of errors that pass are skipped.
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
        // A tombstone has no payload and no error; only `err` says that this is no record.
        if message.pointee.err == RD_KAFKA_RESP_ERR__PARTITION_EOF {
          // Records behind it came later; whoever wants the end wants the newest one.
          if behind.failure == nil {
            before.end = message.pointee.offset
          } else {
            behind.page.end = message.pointee.offset
          }
        } else if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
          let failure = KafkaError(message.pointee.err, operation: "read \(partition)")
          // A broker that is away, moving or slow: librdkafka fetches again.
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
    guard behind.failure != nil else { return (before, count) }
    leftOver.withLock { $0 = behind }
    guard before.isEmpty, let kept = try takeLeftOver() else { return (before, count) }
    return (kept, count)
  }

  /// Ends reading. Also takes the callback off the queue, which belongs to the partition and not to this object: after
  /// a rebalance the partition's next ``PartitionQueue`` has its own there.
  func close() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    QueueWakeUp.disable(on: queue, signal: wake)
    wake.signal()
  }

  func tick() { wake.signal() }
}

/// What a partition gave at once.
package struct PartitionPage: Sendable {
  /// Records, in order.
  package var records: [ConsumerRecord]
  /// Where the partition ended when that was seen. With `read_committed` this is the last stable offset: behind aborted
  /// records and markers, before the first record of a transaction that is open.
  package var end: Int64?
  /// Records that were not chosen, as far as they count.
  package var skipped = 0
  /// Behind the last record that was not chosen.
  package var next: Int64?

  package init(records: [ConsumerRecord] = [], end: Int64? = nil) {
    self.records = records
    self.end = end
  }

  var isEmpty: Bool { records.isEmpty && end == nil && next == nil }
}
