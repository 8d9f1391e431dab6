// Checks that a partition is still the one that a worker has read. A topic that was deleted and created again, or that
// lost its end, has other records at the same offsets, and the worker would take new records for handled ones.

internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// The facts by which a lane recognizes a partition.
struct PartitionMemory: Sendable, Hashable {
  /// A record that the partition has, unless retention has deleted it.
  enum Record: Sendable, Hashable {
    case source(RecordFingerprint)
    case identity(LedgerIdentity)
  }

  /// The offset that the lane has reached. The partition does not end before it.
  var end: Int64
  var record: Record?

  var offset: Int64? {
    switch record {
    case .source(let print): print.offset
    case .identity(let identity): identity.offset
    case nil: nil
    }
  }

  /// Whether a record is the one that the lane remembers.
  func matches(_ record: ConsumerRecord) -> Bool {
    switch self.record {
    case .source(let print): print == RecordFingerprint(record)
    case .identity(let identity): identity == LedgerIdentity(record)
    case nil: true
    }
  }
}

/// The finding that a partition is not the one that a lane has read.
struct TopicReplacement: Error, Sendable, Hashable {
  enum Evidence: Sendable, Hashable {
    /// The partition ends here, before an offset that the lane has reached.
    case ends(Int64, before: Int64)
    /// Another record is at this offset, or none.
    case differs(at: Int64)
    /// The ledger does not have the identity that the lane's offsets name.
    case unknownLedger
  }

  var partition: TopicPartition
  var evidence: Evidence

  private var finding: String {
    switch evidence {
    case .ends(let end, let reached): "it ends at \(end), but the worker has reached offset \(reached)"
    case .differs(let offset): "offset \(offset) does not have the record that the worker has read there"
    case .unknownLedger: "it is not the ledger that the committed offsets belong to"
    }
  }

  /// The error that tells the operator what to do.
  func error(of topics: WorkerTopics) -> MillraceError {
    let tool = "`kafka-consumer-groups --group \(topics.group) --reset-offsets --execute"
    if partition.topic == topics.ledger {
      return MillraceError(
        .topics,
        """
        the ledger was deleted and created again, emptied, or has lost its end: \(finding). Without it the worker does \
        not know which notifications it has handled, which effects it has caused, and which timers and states it had
        """,
        at: "\(partition)",
        remedy: """
          stop every process of the worker, and choose. \(tool) --all-topics --to-current` continues after the \
          committed offsets: timers and states are gone, and effects can repeat only for notifications that were in \
          progress, delayed or replayed, or that arrive again. \(tool) --all-topics --to-earliest` handles every record \
          in the topics again: their events and all of their effects can repeat
          """)
    }
    return MillraceError(
      .topics, "the topic was deleted and created again, or has lost its end: \(finding)", at: "\(partition)",
      remedy: """
        stop every process of the worker, and choose. \(tool) --topic \(partition.topic) --to-earliest` handles every \
        record in the topic, except the notifications that the ledger lists. \
        \(tool) --topic \(partition.topic) --to-current` keeps the offset: right only if the records before it are \
        copies of those that the worker has handled
        """)
  }
}

/// Compares partitions with a lane's memory of them.
struct TopicCheck: Sendable {
  let log: any RecordLog
  let clock: MillraceClock

  private static let questionTimeout = Duration.seconds(30)
  /// The time limit for reading the records, in real time. In a topic that was created again, an open transaction can
  /// precede them.
  private static let readTimeout = Duration.seconds(15)

  /// Throws if a partition is another one. A former leader may not know the newest records yet, so the question is
  /// repeated before the check fails, at most five times.
  /// - Throws: ``TopicReplacement``; `KafkaError` if the log does not answer.
  func confirm(_ memories: [TopicPartition: PartitionMemory]) async throws {
    for attempt in 1... {
      let ranges = try await log.highWatermarks(of: Array(memories.keys), timeout: Self.questionTimeout)
      guard let replacement = try await replacement(memories, in: ranges) else { return }
      guard attempt < 5 else { throw replacement }
      try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
    }
  }

  /// Returns the first partition that is another one.
  /// - Parameter ranges: The current range of each partition.
  func replacement(
    _ memories: [TopicPartition: PartitionMemory], in ranges: [TopicPartition: Range<Int64>]
  ) async throws -> TopicReplacement? {
    #if PLANTED_FAULTS
      if PlantedFault.recreatedTopics.isActive { return nil }
    #endif
    var wanted: [TopicPartition: Range<Int64>] = [:]
    for (partition, memory) in memories.sorted(by: { $0.key < $1.key }) {
      guard let range = ranges[partition] else { continue }
      if range.upperBound < memory.end {
        return TopicReplacement(partition: partition, evidence: .ends(range.upperBound, before: memory.end))
      }
      // Retention has deleted older records, so they cannot be compared.
      if let offset = memory.offset, range.contains(offset) { wanted[partition] = offset..<offset + 1 }
    }
    let found = try await records(wanted)
    for (partition, range) in wanted.sorted(by: { $0.key < $1.key }) {
      if let record = found[partition], memories[partition]?.matches(record) ?? true { continue }
      return TopicReplacement(partition: partition, evidence: .differs(at: range.lowerBound))
    }
    return nil
  }

  private func records(_ wanted: [TopicPartition: Range<Int64>]) async throws -> [TopicPartition: ConsumerRecord] {
    guard !wanted.isEmpty else { return [:] }
    let found: [TopicPartition: ConsumerRecord]?
    do {
      found = try await MillraceClock.system.result(within: Self.readTimeout) { [log] in
        try await log.fold(wanted, upTo: 1, into: [:]) { found, page in
          if let record = page.records.last { found[page.partition] = record }
        }
      }
    } catch var error as KafkaError where error.code == .noOffsetReset {
      // Retention deleted the record since the range was read.
      error.isRetriable = true
      throw error
    }
    guard let found else {
      let names = wanted.keys.sorted().map(\.description).joined(separator: ", ")
      throw KafkaError(
        code: .timedOut, operation: "compare \(names) with the committed offset",
        reason: "the record before it was not read in time", isRetriable: true)
    }
    return found
  }
}
