// Reads a partition to its end. The end is the high watermark at the start of the scan, not the last stable offset:
// committed records can follow the records of an open transaction, and a ledger must not miss them.

public import KafkaClient

extension KafkaLog {
  /// Scans a partition with a client of its own, after a query for the high watermark.
  @discardableResult
  public func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    var start = start
    var progress = ScanProgress(end: nil)
    if case .offset(let offset) = end { progress.end = offset }
    // Also for `.earliest`: a new client of librdkafka looks up its first offset before it knows the leader, and tries
    // again after half a second. A scan without an end leaves the lookup to it nevertheless, because it never gives up.
    if end == .highWatermark || (start == .earliest && end != .never) {
      let range = try await highWatermarks(of: [partition], timeout: Self.questionTimeout)[partition]
      if end == .highWatermark {
        progress.end = range?.upperBound
        // An empty partition never reports an end, so there would be nothing to wait for.
        if let range, progress.isOver(at: start, of: range) { return range.upperBound }
      }
      if start == .earliest, let range { start = .offset(range.lowerBound) }
    }
    if case .offset(let first) = start {
      progress.position = first
      if progress.isOver { return first }
    }
    return try await withScanner([partition: start], upTo: Self.mostAhead) { queues in
      guard let queue = queues.first else { return nil }
      while let page = try await queue.nextPage(upTo: limit, choosing: nil) {
        let records = progress.take(page)
        if !records.isEmpty { try await body(records) }
        if progress.isOver { return progress.position }
      }
      return nil
    }
  }

  /// Scans many partitions with one client, because connecting takes longer than reading a small partition. The client
  /// bounds prefetching over all of its partitions.
  public func scan(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter?, upTo limit: Int,
    _ body: @escaping @Sendable (ScanPage) async throws -> Void
  ) async throws {
    let all = ranges.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
    for start in stride(from: 0, to: all.count, by: Self.scanWidth) {
      let part = Dictionary(uniqueKeysWithValues: all[start..<min(start + Self.scanWidth, all.count)].map { $0 })
      // Short ranges need few bytes. A larger batch is fetched whole.
      let longest = part.values.map(\.count).max() ?? 0
      let ahead = min(Self.mostAhead, Self.scanBytes / part.count, min(longest, 64) << 14)
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

  /// Follows partitions with one client, which stays out of consumer groups. Calls `body` with their pages, also with
  /// empty ones at the end of a partition: in order within each partition, concurrently across partitions.
  ///
  /// - Parameters:
  ///   - starts: The first offset to read from each partition.
  ///   - limit: The maximum number of records in a page.
  ///   - body: Returns whether to go on with the partition.
  /// - Throws: ``KafkaError``, the error of `body`, or `CancellationError`.
  package func follow(
    _ starts: [TopicPartition: StartOffset], upTo limit: Int,
    _ body: @escaping @Sendable (TopicPartition, LogPage) async throws -> Bool
  ) async throws {
    guard !starts.isEmpty else { return }
    try await withScanner(starts, upTo: Self.mostAhead) { (queues) async throws -> Void? in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for queue in queues {
          group.addTask {
            while let page = try await queue.nextPage(upTo: limit) {
              guard try await body(queue.partition, page) else { return true }
            }
            return false
          }
        }
        return try await group.allSatisfy { $0 } ? () : nil
      }
    }
  }

  /// The maximum number of partitions of one client.
  private static var scanWidth: Int { 64 }
  /// The bytes that a client may prefetch for all of its partitions. The same amount may be in transit.
  private static var scanBytes: Int { 32 << 20 }
  /// The bytes that a client may prefetch for one partition.
  private static var mostAhead: Int { 1 << 20 }

  /// - Returns: Whether it reached the end of the range.
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

  /// Calls `body` with the partition queues of a new client.
  /// - Parameters:
  ///   - ahead: How many bytes to prefetch for each partition.
  ///   - body: Returns nil if the queues ended before the scan was complete.
  private func withScanner<Result: Sendable>(
    _ starts: [TopicPartition: StartOffset], upTo ahead: Int, _ body: ([PartitionQueue]) async throws -> Result?
  ) async throws -> Result {
    let consumer = try makeScanner(starts, upTo: ahead)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      defer {
        consumer.shutDown()
        group.cancelAll()
      }
      for await event in consumer.events {
        guard case .assigned(let queues) = event else { continue }
        if !KafkaConfiguration.canShortenPauses { group.addTask { await Self.shortenPauses(of: queues) } }
        if let result = try await body(queues) { return result }
        break
      }
      // If the task is cancelled, the client ended because of that.
      try Task.checkCancellation()
      // An error of the client is more specific than the one below.
      consumer.shutDown()
      try await group.waitForAll()
      let names = starts.keys.sorted().map(\.description).joined(separator: ", ")
      throw KafkaError(code: .closed, operation: "scan \(names)", reason: "the client ended before the partition did")
    }
  }

  /// Makes old versions of librdkafka fetch again soon after records were taken, until the task is cancelled.
  private static func shortenPauses(of queues: [PartitionQueue]) async {
    while true {
      do {
        try await Task.sleep(for: .milliseconds(20))
      } catch {
        return
      }
      for queue in queues {
        do {
          try await queue.resumeFetching(timeout: .seconds(1))
        } catch {
          // The scan itself notices if the broker is unavailable.
        }
      }
    }
  }

  private static var questionTimeout: Duration { .seconds(30) }
}

/// The progress of a scan.
struct ScanProgress: Sendable {
  /// The offset before which the scan ends; nil: never.
  var end: Int64?
  /// The next offset to read.
  var position: Int64 = 0

  init(end: Int64?) { self.end = end }

  var isOver: Bool { end.map { position >= $0 } ?? false }

  /// Returns whether a partition with the offsets `range` has no records from `start` on.
  func isOver(at start: StartOffset, of range: Range<Int64>) -> Bool {
    switch start {
    case .earliest: range.isEmpty
    case .latest: true
    case .offset(let offset): offset >= range.upperBound
    }
  }

  /// Advances past a page and returns its records that belong to the scan.
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
