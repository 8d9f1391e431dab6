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
    return try await withScanner([partition: start], upTo: Self.mostAhead) { queues in
      guard let queue = queues.first else { return nil }
      while let page = try await queue.nextPage(upTo: limit) {
        let records = progress.take(page)
        if !records.isEmpty { try await body(records) }
        if progress.isOver { return progress.position }
      }
      return nil
    }
  }

  /// Reads many partitions with one client: a connection and a first question to the cluster take longer than a small
  /// partition. What they fetch ahead is bounded for all of them together.
  public func scan(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter?, upTo limit: Int,
    _ body: @escaping @Sendable (ScanPage) async throws -> Void
  ) async throws {
    let all = ranges.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
    for start in stride(from: 0, to: all.count, by: Self.scanWidth) {
      let part = Dictionary(uniqueKeysWithValues: all[start..<min(start + Self.scanWidth, all.count)].map { $0 })
      let ahead = min(Self.mostAhead, Self.scanBytes / part.count)
      try await withScanner(part.mapValues { .offset($0.lowerBound) }, upTo: ahead) { (queues) async throws -> Void? in
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for queue in queues {
            let range = part[queue.partition] ?? 0..<0
            group.addTask { try await Self.read(queue, range, filter, upTo: limit, body) }
          }
          let isComplete = try await group.allSatisfy { $0 }
          return isComplete && queues.count == part.count ? () : nil
        }
      }
    }
  }

  /// Partitions of one client.
  private static var scanWidth: Int { 64 }
  /// What a client may hold of all of its partitions that nobody has taken, and as much again that is on its way.
  private static var scanBytes: Int { 32 << 20 }
  /// The same of one partition.
  private static var mostAhead: Int { 2 << 20 }

  /// - Returns: Whether it came to the end of the range.
  private static func read(
    _ queue: PartitionQueue, _ range: Range<Int64>, _ filter: HeaderFilter?, upTo limit: Int,
    _ body: @Sendable (ScanPage) async throws -> Void
  ) async throws -> Bool {
    var progress = ScanProgress(end: range.upperBound)
    while let page = try await queue.nextPage(upTo: limit, choosing: filter, before: range.upperBound) {
      let records = progress.take(page)
      let read = records.count + page.skipped
      if read > 0 { try await body(ScanPage(partition: queue.partition, records: records, read: read)) }
      if progress.isOver { return true }
    }
    return false
  }

  /// Lends the queues of a client of its own.
  /// - Parameters:
  ///   - ahead: How many bytes are fetched ahead for each partition.
  ///   - body: Returns nil where the queues ended before it had what it wanted.
  private func withScanner<Result: Sendable>(
    _ starts: [TopicPartition: StartOffset], upTo ahead: Int, _ body: ([PartitionQueue]) async throws -> Result?
  ) async throws -> Result {
    let consumer = try makeScanner(starts, upTo: ahead)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      defer { consumer.shutDown() }
      for await event in consumer.events {
        guard case .assigned(let queues) = event else { continue }
        if let result = try await body(queues) { return result }
        break
      }
      // Cancelled: the client ended because it was told to.
      try Task.checkCancellation()
      // The client's own error, where it has one, tells more.
      consumer.shutDown()
      try await group.waitForAll()
      let names = starts.keys.sorted().map(\.description).joined(separator: ", ")
      throw KafkaError(code: .closed, operation: "scan \(names)", reason: "the client ended before the partition did")
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
    if let next = page.next { position = max(position, next) }
    if let reached = page.end { position = max(position, reached) }
    guard let end else { return records }
    if let beyond = records.firstIndex(where: { $0.offset >= end }) { records.removeSubrange(beyond...) }
    position = min(position, end)
    return records
  }
}
