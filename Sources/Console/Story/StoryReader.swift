// Reads a story from a log: the key's lanes alone, backwards, in steps, until its reader is gone.

internal import AppStore
internal import Kafka
internal import Millrace
internal import Synchronization

/// What a reader of a story hears.
enum StoryNews: Sendable {
  /// The next line, older than those before.
  case entry(StoryEntry)
  /// So many records were looked at, so many are left.
  case progress(scanned: Int64, left: Int64)
}

/// Tells stories from a log.
struct StoryReader: Sendable {
  let log: any RecordLog
  let teller: StoryTeller

  static let timeout = Duration.seconds(15)
  /// Lines of one story; a subscription has a few in a month.
  static let limit = 1_000

  /// Tells the story, the newest line first; `tell` waits for whoever listens.
  ///
  /// - Returns: whether all of it was told; not where it is longer than ``limit``.
  /// - Throws: `KafkaError`, what `tell` throws, `CancellationError`.
  func tell(since: Timestamp, _ tell: (StoryNews) async throws -> Void) async throws -> Bool {
    let sources = teller.sources
    var merge = StoryMerge(try await ranges(of: sources.keys.sorted(), since: since), since: since)
    var (told, scanned) = (0, Int64(0))
    var calls = CallOutcomes()
    while true {
      try Task.checkCancellation()
      if let step = merge.step {
        let (entries, oldest) = try await read(step, sources[step.partition.topic])
        merge.take(step, entries, oldest: oldest)
        scanned += Int64(step.offsets.count)
        try await tell(.progress(scanned: scanned, left: merge.unread))
      } else if var entry = merge.next() {
        guard told < Self.limit else { return false }
        told += 1
        calls.complete(&entry)
        try await tell(.entry(entry))
      } else {
        return true
      }
    }
  }

  /// What the key's partition of each topic holds since then.
  private func ranges(
    of names: [String], since: Timestamp
  ) async throws -> [TopicPartition: Range<Int64>] {
    let key = Array(teller.subject.utf8)
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
    _ step: StoryMerge.Step, _ source: StoryTeller.Source?
  ) async throws -> (entries: [StoryEntry], oldest: Timestamp?) {
    guard let source else { return ([], nil) }
    let found = Mutex<(entries: [StoryEntry], oldest: Timestamp?)>(([], nil))
    try await log.scan(
      step.partition, from: .offset(step.offsets.lowerBound), to: .offset(step.offsets.upperBound), upTo: 200
    ) { page in
      let entries = page.compactMap { teller.entry($0, of: source) }
      let first = page.first?.timestamp.map { Timestamp(millisecondsSince1970: $0) }
      found.withLock { found in
        found.oldest = found.oldest ?? first
        found.entries += entries
      }
    }
    return found.withLock { $0 }
  }
}
