// Reads a timeline from Kafka backwards, in steps, and only from the partitions that the key maps to.

package import AppStore
internal import KafkaClient
package import MillraceRecords
internal import MillraceWorker
package import Operations

/// A report from ``TimelineReader`` to its caller.
package enum TimelineUpdates: Sendable {
  /// The next older entry.
  case entry(TimelineEntry)
  /// The numbers of records that were read and that are left.
  case progress(scanned: Int64, left: Int64)
}

/// Reads the timeline of one key.
package struct TimelineReader: Sendable {
  let log: any RecordLog
  let builder: TimelineBuilder
  /// Returns the result of the operators' commands about a dead letter; nil if it is not known.
  let settled: @Sendable (DeadLetterKey) async throws -> String?

  package init(
    log: any RecordLog, builder: TimelineBuilder,
    settled: @escaping @Sendable (DeadLetterKey) async throws -> String? = { _ in nil }
  ) {
    (self.log, self.builder, self.settled) = (log, builder, settled)
  }

  static let timeout = Duration.seconds(15)
  /// The largest number of entries in one timeline. A subscription has a few in a month.
  static let limit = 1_000

  /// Reads the timeline and passes it to `send`, the newest entry first. `send` may suspend to apply backpressure.
  ///
  /// - Returns: Whether the timeline is complete; false if it is longer than ``limit``.
  /// - Throws: `KafkaError`, errors from `send`, `CancellationError`.
  package func follow(since: Timestamp, _ send: (TimelineUpdates) async throws -> Void) async throws -> Bool {
    let sources = builder.sources
    let ranges = try await ranges(of: sources.keys.sorted(), since: since)
    var outcomes = try await WorkerOutcomes(of: builder.topics, reading: Array(ranges.keys), in: log)
    var chains = DelayChains()
    var merge = TimelineMerge(ranges, since: since)
    var (sent, scanned) = (0, Int64(0))
    var calls = CallOutcomes()
    while true {
      try Task.checkCancellation()
      if let step = merge.step {
        let found = try await read(step, sources[step.partition.topic])
        merge.add(step, found.entries, oldest: found.oldest)
        outcomes.add(deadLetters: found.entries)
        if case .ledger(let worker)? = sources[step.partition.topic] { outcomes.add(older: found.ledger, of: worker) }
        scanned += Int64(step.offsets.count)
        try await send(.progress(scanned: scanned, left: merge.unread))
      } else if var entry = merge.next() {
        guard chains.isNewest(entry), calls.complete(&entry) else { continue }
        guard sent < Self.limit else { return false }
        sent += 1
        outcomes.complete(&entry)
        if let letter = entry.letter { entry.say("state", try await settled(letter)) }
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

  private struct Found: Sendable {
    var entries: [TimelineEntry] = []
    var oldest: Timestamp?
    var ledger = LedgerOutcomes()
  }

  private func read(
    _ step: TimelineMerge.Step, _ source: TimelineBuilder.Source?
  ) async throws -> Found {
    guard let source else { return Found() }
    return try await log.fold(
      step.partition, from: .offset(step.offsets.lowerBound), to: .offset(step.offsets.upperBound), upTo: 200,
      into: Found()
    ) { found, page in
      if case .ledger = source { for record in page { found.ledger.take(record) } }
      found.oldest = found.oldest ?? page.first?.timestamp.map { Timestamp(millisecondsSince1970: $0) }
      found.entries += page.compactMap { builder.entry($0, of: source) }
    }
  }
}
