// Reads a timeline from Kafka backwards, in steps, and only from the partitions that the key maps to.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

/// A report from ``TimelineReader`` to its caller.
enum TimelineUpdates: Sendable {
  /// The next older entry.
  case entry(TimelineEntry)
  /// The numbers of records that were read and that are left.
  case progress(scanned: Int64, left: Int64)
}

/// Reads the timeline of one key.
struct TimelineReader: Sendable {
  let log: any RecordLog
  let builder: TimelineBuilder

  static let timeout = Duration.seconds(15)
  /// The largest number of entries in one timeline. A subscription has a few in a month.
  static let limit = 1_000

  /// Reads the timeline and passes it to `send`, the newest entry first. `send` may suspend to apply backpressure.
  ///
  /// - Returns: Whether the timeline is complete; false if it is longer than ``limit``.
  /// - Throws: `KafkaError`, errors from `send`, `CancellationError`.
  func follow(since: Timestamp, _ send: (TimelineUpdates) async throws -> Void) async throws -> Bool {
    let sources = builder.sources
    var merge = TimelineMerge(try await ranges(of: sources.keys.sorted(), since: since), since: since)
    var (sent, scanned) = (0, Int64(0))
    var calls = CallOutcomes()
    while true {
      try Task.checkCancellation()
      if let step = merge.step {
        let (entries, oldest) = try await read(step, sources[step.partition.topic])
        merge.add(step, entries, oldest: oldest)
        scanned += Int64(step.offsets.count)
        try await send(.progress(scanned: scanned, left: merge.unread))
      } else if var entry = merge.next() {
        guard sent < Self.limit else { return false }
        sent += 1
        calls.complete(&entry)
        try await send(.entry(entry))
      } else {
        return true
      }
    }
  }

  /// Returns the offsets since a time in the key's partition of each topic.
  private func ranges(
    of names: [String], since: Timestamp
  ) async throws -> [TopicPartition: Range<Int64>] {
    let key = Array(builder.subject.utf8)
    let counts = try await log.partitionCounts(of: names, timeout: Self.timeout)
    let partitions = counts.map { topic, count in
      TopicPartition(topic: topic, partition: Murmur2.partition(of: key, among: count))
    }
    var ranges = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
    guard log.description.capabilities.contains(.timeLookup) else { return ranges }
    let starts = try await log.offsets(
      of: partitions.sorted(), since: since.millisecondsSince1970, timeout: Self.timeout)
    for (partition, range) in ranges {
      let start = starts[partition] ?? range.upperBound
      ranges[partition] = min(max(start, range.lowerBound), range.upperBound)..<range.upperBound
    }
    return ranges
  }

  private func read(
    _ step: TimelineMerge.Step, _ source: TimelineBuilder.Source?
  ) async throws -> (entries: [TimelineEntry], oldest: Timestamp?) {
    guard let source else { return ([], nil) }
    return try await log.fold(
      step.partition, from: .offset(step.offsets.lowerBound), to: .offset(step.offsets.upperBound), upTo: 200,
      into: (entries: [TimelineEntry](), oldest: Timestamp?.none)
    ) { found, page in
      found.oldest = found.oldest ?? page.first?.timestamp.map { Timestamp(millisecondsSince1970: $0) }
      found.entries += page.compactMap { builder.entry($0, of: source) }
    }
  }
}
