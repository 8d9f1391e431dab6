// Before a lane runs: stable committed offsets first, then the ledger to its high watermark. In this order: an outcome
// that is committed after the offsets were asked for is in the ledger that is read later.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging
internal import Synchronization

/// Makes runners of lanes that are owned.
struct LaneStarter: Sendable {
  let reader: any LogReader
  let parts: LaneParts
  let farewells: LaneFarewells
  /// Each restore has a client that reads ahead, and more of them than processors are no faster.
  let restores = Turnstile(8)

  private var log: any RecordLog { parts.log }

  private static let questionTimeout = Duration.seconds(30)
  /// While the transaction of a process that was killed is open, brokers do not tell what is committed, and commits of
  /// other lanes wait behind the question. It is asked again.
  private static let commitQuestionTimeout = Duration.seconds(2)
  private static let pageSize = 1_000

  /// Restores a lane's ledger and makes its runner. Brokers that are away or moving are waited for.
  /// - Parameter kept: what this worker knew of the lane when it had it last.
  func start(_ epoch: LaneEpoch, _ partitions: [any LogPartition], _ kept: KeptLedger?) async throws -> LaneRunner {
    var pause = Duration.milliseconds(100)
    while true {
      do {
        return try await restore(epoch, partitions, kept)
      } catch let error as KafkaError where error.isRetriable {
        parts.logger.warning("a lane does not start yet", metadata: ["lane": "\(epoch.lane)", "error": "\(error)"])
        try await parts.clock.sleep(until: parts.clock.now.advanced(by: pause))
        pause = min(pause * 2, .seconds(5))
      }
    }
  }

  private func restore(
    _ epoch: LaneEpoch, _ partitions: [any LogPartition], _ kept: KeptLedger?
  ) async throws -> LaneRunner {
    let sources = partitions.map(\.partition)
    let committed = try await reader.committed(sources, timeout: Self.commitQuestionTimeout)
    let ranges = try await log.highWatermarks(of: sources, timeout: Self.questionTimeout)
    var starts: [String: Int64] = [:]
    for source in sources {
      starts[source.topic] = try start(
        of: source, committed: committed.first { $0.partition == source }?.offset, available: ranges[source])
    }
    let began = parts.clock.now
    let marks = Dictionary(committed.map { ($0.partition.topic, $0.metadata) }) { first, _ in first }
    let restored = Mutex(kept?.ledger ?? Ledger())
    let (end, survivors) = try await restores.pass {
      try Task.checkCancellation()
      let end = try await log.scan(
        TopicPartition(topic: parts.topics.ledger, partition: epoch.lane),
        from: kept.map { .offset($0.end) } ?? .earliest,
        to: .highWatermark, upTo: Self.pageSize
      ) { records in
        let entries = try records.map { try LedgerRecord.entry(of: $0) }
        restored.withLock { ledger in for entry in entries { ledger.restore(entry) } }
      }
      return (end, try await farewells.survivors(of: Array(marks.values)))
    }
    try Task.checkCancellation()
    parts.metrics.restored(in: began.duration(to: parts.clock.now))
    return LaneRunner(
      epoch: epoch, partitions: partitions, starts: starts, ledger: restored.withLock { $0 }, ledgerEnd: end,
      watch: PoisonWatch(
        metadata: marks, owner: farewells.newOwner(), survivors: survivors,
        patience: parts.policy.recordsInFlight * sources.count), parts: parts)
  }

  private func start(of source: TopicPartition, committed: Int64?, available: Range<Int64>?) throws -> Int64 {
    // What a worker sent to itself is never skipped.
    let isAtEnd = parts.policy.start == .latest && parts.topics.source(of: source.topic) == .live
    switch SourceStart(committed: committed, available: available ?? 0..<0, isAtEnd: isAtEnd) {
    case .at(let offset): return offset
    case .behind(let lost):
      // Waiting brings nothing back and loses more.
      parts.metrics.lost(lost.count, topic: source.topic)
      parts.logger.error(
        """
        records were deleted before this worker read them; keep them longer (`retention.ms`), and fetch what is missing \
        from Apple's notification history
        """,
        metadata: [
          "source": "\(source)", "committed": "\(lost.lowerBound)", "oldest": "\(lost.upperBound)",
          "records-at-most": "\(lost.count)",
        ])
      return lost.upperBound
    case .beyondEnd(let committed, let end):
      throw MillraceError(
        .topics, "the group \(parts.topics.group) has committed offset \(committed), and the partition ends at \(end)",
        at: "\(source)",
        remedy: """
          where the topic was made anew, set the group's offset of it to the earliest (the ledger keeps what was handled \
          from being handled again)
          """)
    }
  }
}

/// Lanes are partitions of equal number.
enum LaneCount {
  private static let timeout = Duration.seconds(30)

  /// The number of lanes.
  /// - Throws: ``MillraceError`` where a topic is missing or has another number of partitions.
  static func check(_ topics: WorkerTopics, on log: any RecordLog) async throws -> Int {
    let names = topics.laneTopics + topics.others + topics.tables
    let counts = try await log.partitionCounts(of: names, timeout: timeout)
    let problems = problems(topics, counts)
    guard problems.isEmpty, let lanes = counts[topics.ledger] else { throw MillraceError(.topics, problems) }
    return lanes
  }

  static func problems(_ topics: WorkerTopics, _ counts: [String: Int]) -> [MillraceError.Problem] {
    let names = topics.laneTopics
    var problems = (names + topics.others).filter { counts[$0] == nil }.map {
      MillraceError.Problem(
        "the topic is missing", at: $0,
        remedy: "name the worker under `workers` with its retry delays and run `millrace topics apply`")
    }
    problems += topics.tables.filter { counts[$0] == nil }.map {
      MillraceError.Problem(
        "the topic is missing, and the worker \(topics.worker) declares in its `tables` that it writes to it", at: $0,
        remedy: "put its file into the topics' directory and run `millrace topics apply`")
    }
    let lanes = names.compactMap { counts[$0] }.max() ?? 0
    problems += names.filter { counts[$0] != nil && counts[$0] != lanes }.map {
      MillraceError.Problem(
        "\(counts[$0] ?? 0) partitions where other topics of the worker have \(lanes)", at: $0,
        remedy: "give all topics of the worker one partition count; see `millrace topics plan`")
    }
    return problems
  }
}
