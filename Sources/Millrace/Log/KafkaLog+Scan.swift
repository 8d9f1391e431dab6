// Reading a partition to its end, on Kafka. The end is the high watermark of the beginning, not the last stable offset:
// committed records can stand behind those of a transaction that is still open, and a ledger must not miss them.

public import Kafka

extension KafkaLog {
  /// Reads with a client of its own, which asks for the high watermark first.
  @discardableResult
  public func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    var progress = ScanProgress(end: nil)
    switch end {
    case .never: break
    case .offset(let offset): progress.end = offset
    case .highWatermark:
      let range = try await highWatermarks(of: [partition], timeout: Self.questionTimeout)[partition]
      progress.end = range?.upperBound
      // Nothing to wait for: an empty partition never reports an end beyond its beginning.
      if let range, progress.isOver(at: start, of: range) { return range.upperBound }
    }
    if case .offset(let first) = start {
      progress.position = first
      if progress.isOver { return first }
    }
    let consumer = try makeScanner(of: partition, from: start)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      defer { consumer.shutDown() }
      reading: for await event in consumer.events {
        guard case .assigned(let queues) = event, let queue = queues.first else { continue }
        while let page = try await queue.nextPage(upTo: limit) {
          let records = progress.take(page)
          if !records.isEmpty { try await body(records) }
          if progress.isOver { break reading }
        }
        try Task.checkCancellation()
      }
      guard progress.isOver else {
        // Cancelled before anything was assigned: the client ended because it was told to.
        try Task.checkCancellation()
        // The client's own error, where it has one, tells more.
        consumer.shutDown()
        try await group.waitForAll()
        throw KafkaError(
          code: .closed, operation: "scan \(partition)", reason: "the client ended before the partition did")
      }
      return progress.position
    }
  }

  private static var questionTimeout: Duration { .seconds(30) }
}

/// How far a scan is: a value, so that its end can be reasoned about.
struct ScanProgress: Sendable {
  /// The offset before which it ends; nil: never.
  var end: Int64?
  /// The offset behind what was read.
  var position: Int64 = 0

  init(end: Int64?) { self.end = end }

  var isOver: Bool { end.map { position >= $0 } ?? false }

  /// Whether a partition that holds `range` has nothing from `start` on.
  func isOver(at start: StartOffset, of range: Range<Int64>) -> Bool {
    switch start {
    case .earliest: range.isEmpty
    case .latest: true
    case .offset(let offset): offset >= range.upperBound
    }
  }

  /// Takes what was read; returns what belongs to the scan.
  mutating func take(_ page: PartitionPage) -> [ConsumerRecord] {
    var records = page.records
    if let last = records.last { position = max(position, last.offset + 1) }
    if let reached = page.end { position = max(position, reached) }
    guard let end else { return records }
    if let beyond = records.firstIndex(where: { $0.offset >= end }) { records.removeSubrange(beyond...) }
    position = min(position, end)
    return records
  }
}
