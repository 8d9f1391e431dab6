// Starts lanes. It fetches the stable committed offsets, then writes a record to the ledger, and then reads the ledger to
// that record. The order matters: the records of an outcome that is committed after the offsets were fetched precede it.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Synchronization
internal import MillraceCore
internal import MillraceRecords

/// Creates the runners of owned lanes.
struct LaneStarter: Sendable {
  let reader: any LogReader
  let parts: LaneParts
  let notices: LivenessNotices
  /// Writes to the ledger outside transactions.
  let writer: any LogWriter
  /// The name of this instance of the worker.
  let instance: String
  /// Opens when this worker's producer has taken over and the open transaction of its predecessor is aborted.
  let writerIsReady: Latch
  /// Limits parallel restores. Each has a client that reads ahead, and more restores than processors are not faster.
  let restores = AsyncSemaphore(3)

  private var log: any RecordLog { parts.log }

  private static let questionTimeout = Duration.seconds(30)
  /// The time limit of one request for committed offsets; the request is repeated. While the transaction of a killed
  /// process is open, brokers do not answer it, and commits of other lanes wait behind it.
  private static let commitQuestionTimeout = Duration.seconds(2)
  private static let pageSize = 1_000

  /// Restores a lane's ledger and creates its runner. Retries while brokers are unavailable.
  /// - Parameter kept: The ledger from this process's last ownership of the lane, if any.
  func start(_ epoch: LaneEpoch, _ partitions: [any LogPartition], _ kept: KeptLedger?) async throws -> LaneRunner {
    try await writerIsReady.wait()
    return try await parts.readRetry.run("cannot start a lane", metadata: ["lane": "\(epoch.lane)"]) {
      try await restore(epoch, partitions, kept)
    }
  }

  private func restore(
    _ epoch: LaneEpoch, _ partitions: [any LogPartition], _ kept: KeptLedger?
  ) async throws -> LaneRunner {
    let sources = partitions.map(\.partition)
    let committed = try await reader.committed(sources, timeout: Self.commitQuestionTimeout)
    let ranges = try await available(sources, holding: committed)
    let began = parts.clock.now
    let metadata = Dictionary(committed.map { ($0.partition.topic, $0.metadata) }) { first, _ in first }
    let marks = metadata.mapValues { OffsetMark($0) }
    let known = marks.values.compactMap(\.ledger)
    let ledgerPartition = TopicPartition(topic: parts.topics.ledger, partition: epoch.lane)
    let restored = Mutex(kept?.ledger ?? Ledger())
    let identities = Mutex(kept.map { [$0.identity] } ?? [])
    let (end, survivors) = try await restores.pass {
      try Task.checkCancellation()
      async let isSame: Void = compare(committed, marks, ranges)
      #if PLANTED_FAULTS
        let mark =
          PlantedFault.restoreToWatermark.isActive
          ? (try await log.highWatermarks(of: [ledgerPartition], timeout: Self.questionTimeout)[ledgerPartition]?
            .upperBound ?? 0) - 1
          : try await append(.owner(instance), toLedger: epoch.lane)
      #else
        let mark = try await append(.owner(instance), toLedger: epoch.lane)
      #endif
      if let reached = known.map(\.end).max(), mark < reached {
        throw TopicReplacement(partition: ledgerPartition, evidence: .ends(mark, before: reached))
      }
      if let kept {
        try await parts.check.confirm([ledgerPartition: .init(end: kept.end, record: .identity(kept.identity))])
      }
      let end = try await log.scan(
        ledgerPartition, from: kept.map { .offset($0.end) } ?? .earliest, to: .offset(mark + 1), upTo: Self.pageSize
      ) { records in
        identities.withLock { $0 += records.compactMap { LedgerIdentity($0) } }
        try restored.withLock { ledger in for record in records { try ledger.restore(record) } }
      }
      try await isSame
      return (end, try await notices.survivors(of: Array(metadata.values)))
    }
    try Task.checkCancellation()
    let identity = try await identity(among: identities.withLock { $0 }, known, ledgerPartition)
    try restored.withLock { ledger in try parts.erasure.check(ledger, lane: epoch.lane) }
    let newSources = try newSources(committed, restored.withLock { $0 }, lane: epoch.lane)
    var starts: [String: Int64] = [:]
    for source in sources {
      starts[source.topic] = try start(
        of: source, committed: committed.first { $0.partition == source }?.offset, available: ranges[source])
    }
    parts.metrics.restored(in: began.duration(to: parts.clock.now))
    return LaneRunner(
      epoch: epoch, partitions: partitions, starts: starts, newSources: newSources, marks: marks,
      ledger: restored.withLock { $0 },
      ledgerEnd: end, ledgerIdentity: identity,
      watch: PoisonDetector(
        metadata: metadata, owner: notices.newOwner(), survivors: survivors,
        patience: parts.policy.recordsInFlight * sources.count), parts: parts)
  }

  /// Throws if a source is another topic than the one that the committed offsets belong to.
  private func compare(
    _ committed: [CommittedOffset], _ marks: [String: OffsetMark], _ ranges: [TopicPartition: Range<Int64>]
  ) async throws {
    func check(_ record: @Sendable (OffsetMark) -> RecordFingerprint?) async throws {
      var memories: [TopicPartition: PartitionMemory] = [:]
      for offset in committed {
        guard let print = marks[offset.partition.topic].flatMap(record) else { continue }
        memories[offset.partition] = PartitionMemory(end: offset.offset, record: .source(print))
      }
      if let replacement = try await parts.check.replacement(memories, in: ranges) { throw replacement }
    }
    async let isLastSame: Void = check(\.last)
    try await check(\.anchor)
    try await isLastSame
  }

  /// Returns the identity of the ledger. A ledger that has none gets one, if no offset names one: it is new, or from an
  /// earlier version, or the operator has chosen to continue with an empty one.
  /// - Throws: ``TopicReplacement`` if the offsets were committed with another ledger.
  private func identity(
    among identities: [LedgerIdentity], _ known: [LedgerMark], _ ledger: TopicPartition
  ) async throws -> LedgerIdentity {
    let numbers = Set(known.map(\.identity))
    guard numbers.isSubset(of: identities.map(\.number)) else {
      throw TopicReplacement(partition: ledger, evidence: .unknownLedger)
    }
    if let identity = identities.first(where: { numbers.isEmpty || numbers.contains($0.number) }) { return identity }
    var generator = SystemRandomNumberGenerator()
    let number: UInt64 = generator.next()
    return LedgerIdentity(
      number: number, offset: try await append(LedgerIdentity.entry(number), toLedger: ledger.partition))
  }

  /// Appends an entry to the ledger outside of transactions and returns its offset. The first one names this instance.
  /// With transactions, all records of earlier owners have lower offsets.
  ///
  /// The high watermark would not do. A broker that was suspended answers a request that waited for it from its old
  /// state, before it learns that it is no longer the leader. A record is acknowledged by the leader only.
  private func append(_ entry: LedgerEntry, toLedger lane: Int32) async throws(KafkaError) -> Int64 {
    let record = entry.record(topic: parts.topics.ledger, lane: lane)
    return try await writer.send(record.timed(by: parts.clock)).offset
  }

  /// Returns the range of each partition. A former leader may not know the committed offsets yet, so the question is
  /// repeated until the ranges include them, at most five times.
  private func available(
    _ partitions: [TopicPartition], holding committed: [CommittedOffset]
  ) async throws -> [TopicPartition: Range<Int64>] {
    for _ in 0..<5 {
      let ranges = try await log.highWatermarks(of: partitions, timeout: Self.questionTimeout)
      if committed.allSatisfy({ $0.offset <= ranges[$0.partition]?.upperBound ?? 0 }) { return ranges }
      try await parts.clock.sleep(until: parts.clock.now.advanced(by: .seconds(1)))
    }
    return try await log.highWatermarks(of: partitions, timeout: Self.questionTimeout)
  }

  /// Returns the inputs that the ledger does not list yet, for a worker that would start at the end.
  ///
  /// If such a worker has run before, it must have committed offsets. Brokers delete the offsets of a group that has been
  /// empty for a week, and the worker would skip the records that arrived meanwhile. They also delete the offsets of a
  /// topic that is deleted. The ledger lists the inputs of the lane, because a new input does start at the end.
  private func newSources(_ committed: [CommittedOffset], _ ledger: Ledger, lane: Int32) throws -> [String] {
    guard parts.policy.start == .latest else { return [] }
    let unread = parts.topics.inputs.filter { topic in !committed.contains { $0.partition.topic == topic } }
    let unknown = parts.topics.inputs.filter { ledger.counter(LedgerIdentity.counter(ofSource: $0)) == 0 }
    let lost =
      unread.count == parts.topics.inputs.count && ledger.count > 0
      ? unread : unread.filter { !unknown.contains($0) }
    guard !lost.isEmpty else { return unknown }
    throw MillraceError(
      .topics,
      """
      the worker has run before, but its group \(parts.topics.group) has no committed offsets of \
      \(lost.joined(separator: ", ")) in lane \(lane)
      """,
      at: "workers.\(parts.topics.worker).start",
      remedy: """
        `latest` would skip the records that arrived meanwhile: set it to `earliest`, or set the group's offsets to the \
        time when the worker stopped (`kafka-consumer-groups --reset-offsets --to-datetime`)
        """)
  }

  private func start(of source: TopicPartition, committed: Int64?, available: Range<Int64>?) throws -> Int64 {
    // Retry and replay topics hold records that the worker has sent to itself. They are never skipped.
    let isAtEnd = parts.policy.start == .latest && parts.topics.source(of: source.topic) == .live
    switch SourceStart(committed: committed, available: available ?? 0..<0, isAtEnd: isAtEnd) {
    case .at(let offset): return offset
    case .behind(let lost):
      // Waiting would not bring the records back, and more would be lost.
      parts.report(lost: lost, of: source)
      return lost.upperBound
    case .beyondEnd(let committed, let end):
      throw TopicReplacement(partition: source, evidence: .ends(end, before: committed))
    }
  }
}

/// Checks that all lane topics of a worker have the same number of partitions.
enum LaneCount {
  private static let timeout = Duration.seconds(30)

  /// Returns the number of lanes.
  /// - Throws: ``MillraceError`` if a topic is missing or has a different number of partitions.
  static func check(_ topics: WorkerTopics, on log: any RecordLog) async throws -> Int {
    let names = topics.laneTopics + topics.others + topics.outputTopics
    let counts = try await log.partitionCounts(of: names, timeout: timeout)
    let problems = problems(topics, counts)
    guard problems.isEmpty, let lanes = counts[topics.ledger] else { throw MillraceError(.topics, problems) }
    return lanes
  }

  static func problems(_ topics: WorkerTopics, _ counts: [String: Int]) -> [MillraceError.Problem] {
    let names = topics.laneTopics
    var problems = (names + topics.others).filter { counts[$0] == nil }.map {
      MillraceError.Problem(
        "the topic is missing, or this process may not describe it", at: $0,
        remedy: """
          name the worker under `workers` with its retry delays and run `millrace topics apply`, or grant the right \
          that `millrace topics acls` prints
          """)
    }
    problems += topics.outputTopics.filter { counts[$0] == nil }.map {
      MillraceError.Problem(
        """
        the topic is missing, or this process may not describe it, and the worker \(topics.worker) declares in its \
        `outputTopics` that it writes to it
        """,
        at: $0,
        remedy: """
          add its file to the topics' directory and run `millrace topics apply`, or grant the right to write it
          """)
    }
    let lanes = names.compactMap { counts[$0] }.max() ?? 0
    problems += names.filter { counts[$0] != nil && counts[$0] != lanes }.map {
      MillraceError.Problem(
        "the topic has \(counts[$0] ?? 0) partitions, but other topics of the worker have \(lanes)", at: $0,
        remedy: "run `millrace topics plan`, and give all topics of the worker the same number of partitions")
    }
    return problems
  }
}
