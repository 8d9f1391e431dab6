// Starts, drains and drops lanes when the group assigns or revokes partitions. ``LaneOwnership`` decides, and the
// supervisor executes the decisions and owns the task of every lane.

internal import AppStoreServerAPI
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceCore

/// Starts and stops the lanes of one worker.
actor LaneSupervisor {
  private struct Lane {
    var work: Task<Void, Never>
    var runner: LaneRunner?
  }

  private let starter: LaneStarter
  private let parts: LaneParts
  private let budget: APIBudget?
  private let state: WorkerState
  private let fail: @Sendable (any Error) -> Void

  private var ownership: LaneOwnership
  private var partitions: [TopicPartition: any LogPartition] = [:]
  private var lanes: [LaneEpoch: Lane] = [:]
  private var kept: [Int32: KeptLedger] = [:]
  private var share: BudgetShare
  /// The progress of running lanes at the last measurement.
  private var measured: [TopicPartition: LaneProgress.Source] = [:]
  /// The number of measurements that have failed in a row.
  private var unmeasured = 0
  /// The positions of running lanes at the last measurement of the lag, and since when they have not moved.
  private var positions: [TopicPartition: (read: Int64, since: MillraceClock.Instant)] = [:]

  init(
    starter: LaneStarter, lanes: Int, budget: APIBudget?, state: WorkerState,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.starter = starter
    self.parts = starter.parts
    self.budget = budget
    self.state = state
    self.fail = fail
    ownership = LaneOwnership(topics: starter.parts.topics.sources)
    share = BudgetShare(lanes: lanes)
    budget?.setPart(0)
  }

  /// Adds assigned partitions and starts the lanes that are now complete.
  func assigned(_ assigned: [any LogPartition]) async {
    for partition in assigned { partitions[partition.partition] = partition }
    await carryOut(ownership.assign(assigned.map(\.partition)))
    parts.metrics.rebalanced("assigned", lanes: lanes.count)
    reportMissing()
    report()
  }

  /// Warns of lanes that cannot start here. Kafka assigns each topic among the members that read it, so lanes stay
  /// divided as long as the members do not read the same topics.
  private func reportMissing() {
    let missing = ownership.missing
    guard !missing.isEmpty else { return }
    let topics = missing.values.reduce(into: Set()) { $0.formUnion($1) }.sorted()
    parts.logger.warning(
      """
      lanes cannot start: another process of the group subscribes to other topics; stop all processes of this worker, \
      then start those of one version and configuration
      """,
      metadata: [
        "lanes": "\(missing.keys.sorted().map(String.init).joined(separator: ","))",
        "topics-assigned-elsewhere": "\(topics.joined(separator: ","))",
      ])
  }

  /// Hands over revoked partitions: waits for running handlers and commits their outcomes.
  func revoked(_ revocation: PartitionRevocation) async {
    for partition in revocation.partitions { partitions[partition] = nil }
    // If nothing can be committed, draining is useless.
    let actions =
      revocation.isLost || parts.committer.isOver
      ? ownership.lose(revocation.partitions) : ownership.revoke(revocation.partitions)
    await carryOut(actions)
    parts.metrics.rebalanced(revocation.isLost ? "lost" : "revoked", lanes: lanes.count)
    report()
  }

  /// Drops the lanes that are left if the group's events end without a revocation: the process was cancelled, or its
  /// reader failed.
  func close() async {
    await carryOut(ownership.lose(partitions.keys))
    partitions = [:]
    report()
  }

  /// The lanes that run, in order.
  var running: [Int32] { lanes.filter { $0.value.runner != nil }.keys.map(\.lane).sorted() }

  /// Returns whether the lanes are idle, and how far they have read.
  func rest() async -> WorkerRest {
    var rest = WorkerRest()
    var waits = 0
    let progress = parts.committer.progress
    for runner in lanes.values.compactMap(\.runner) {
      // Ask the lane once: between two calls it could read a record that is then missing from the counts.
      let lane = await runner.rest
      rest.isQuiet = rest.isQuiet && lane.isQuiet
      rest.held += lane.held
      rest.isStill = rest.isStill && lane.isStill
      rest.handlers += lane.handlers
      waits += lane.waits
      for (topic, offset) in lane.taken {
        rest.taken[TopicPartition(topic: topic, partition: runner.epoch.lane)] = offset
      }
    }
    // A lane that was asked before it knew the result of a batch may write again once it knows.
    let isIdle = progress.isIdle && parts.committer.progress == progress
    if !isIdle { (rest.isQuiet, rest.isStill) = (false, false) }
    if let budget, !budget.isAtRest(callers: waits) { (rest.isQuiet, rest.isStill) = (false, false) }
    return rest
  }

  /// Measures the lag of the lanes every ten seconds, and recognizes their topics every minute. The intervals are real
  /// time, because brokers run in real time.
  func watchLag() async throws {
    for turn in 1... {
      try await MillraceClock.system.sleep(for: Self.lagInterval)
      await measureLag()
      parts.failures.flush()
      if turn.isMultiple(of: Self.turnsBetweenChecks) { await checkTopics() }
    }
  }

  private static let lagInterval = Duration.seconds(10)
  private static let turnsBetweenChecks = 6
  private static let turnsUntilSurvey = 3

  /// The number of lanes that have left and whose ledger is still in memory.
  var keptLedgers: Int { kept.count }

  /// Releases the ledgers of lanes that did not come back in time. Without this, they would stay until a lane starts.
  private func releaseLedgers() {
    let now = parts.clock.now
    kept = kept.filter { $0.value.isFresh(at: now) }
  }

  /// Measures the lag of the running lanes, and reports records that were deleted before a lane has read them. Releases
  /// the ledgers of lanes that have left.
  func measureLag() async {
    releaseLedgers()
    var sources: [TopicPartition: LaneProgress.Source] = [:]
    var ledgers: [TopicPartition: PartitionMemory] = [:]
    var failing = 0
    for (epoch, lane) in lanes where ownership.phase(of: epoch) == .running {
      guard let runner = lane.runner else { continue }
      let progress = await runner.progress
      parts.metrics.lag(age: progress.age, lane: epoch.lane)
      failing += progress.failingTimers
      for (topic, source) in progress.sources { sources[TopicPartition(topic: topic, partition: epoch.lane)] = source }
      ledgers[TopicPartition(topic: parts.topics.ledger, partition: epoch.lane)] = await runner.ledgerMemory
    }
    if ownership.isSettled { state.note(failingTimers: failing) }
    do {
      let ranges = try await parts.log.highWatermarks(
        of: Array(sources.keys) + Array(ledgers.keys), timeout: Self.lagInterval)
      var shorter: [TopicPartition: PartitionMemory] = [:]
      for (partition, range) in ranges {
        // The next owner measures a lane that has left meanwhile.
        guard let lane = lanes.first(where: { $0.key.lane == partition.partition })?.value else { continue }
        if let memory = ledgers[partition] {
          if range.upperBound < memory.end { shorter[partition] = memory }
          await lane.runner?.ledgerReaches(range.upperBound)
        }
        guard let source = sources[partition] else { continue }
        if range.upperBound < source.read { shorter[partition] = source.memory }
        func behind(_ offset: Int64) -> Int64 { max(0, range.upperBound - max(offset, range.lowerBound)) }
        let unread = behind(source.read)
        parts.metrics.lag(
          committed: behind(source.committed), unread: unread, topic: partition.topic, lane: partition.partition)
        let now = parts.clock.now
        if unread == 0 || positions[partition]?.read != source.read { positions[partition] = (source.read, now) }
        parts.metrics.stalled(
          for: positions[partition]?.since.duration(to: now) ?? .zero, topic: partition.topic, lane: partition.partition
        )
        reportLost(source, of: partition, before: range.lowerBound)
      }
      unmeasured = 0
      await confirm(shorter)
    } catch {
      parts.logger.warning("could not measure the lag", metadata: ["error": "\(error)"])
      unmeasured += 1
      if unmeasured >= Self.turnsUntilSurvey { await checkCounts() }
    }
  }

  /// Ends the worker if a topic no longer exists. librdkafka waits for such a topic, with retriable errors.
  private func checkCounts() async {
    do {
      try await parts.readRetry.confirmTopics()
    } catch let error as MillraceError {
      parts.committer.abandon()
      fail(error)
    } catch {
      // The worker is leaving its group.
    }
  }

  /// Reports records that were deleted before the lane has read them: those that it has still to read, and those that
  /// Kafka let it skip, without an error, since the last measurement.
  private func reportLost(_ source: LaneProgress.Source, of partition: TopicPartition, before oldest: Int64) {
    let last = measured.updateValue(source, forKey: partition) ?? source
    if let lost = source.lost(since: last, before: oldest) { parts.report(lost: lost, of: partition) }
  }

  /// Compares the topics of the running lanes with the records that the lanes have read. A topic that was created again
  /// and is already longer than before shows no other sign.
  func checkTopics() async {
    var memories: [TopicPartition: PartitionMemory] = [:]
    var newest: [(runner: LaneRunner, records: [String: RecordFingerprint])] = []
    for (epoch, lane) in lanes where ownership.phase(of: epoch) == .running {
      guard let runner = lane.runner else { continue }
      let sources = await runner.progress.sources
      for (topic, source) in sources {
        memories[TopicPartition(topic: topic, partition: epoch.lane)] = source.memory
      }
      memories[TopicPartition(topic: parts.topics.ledger, partition: epoch.lane)] = await runner.ledgerMemory
      newest.append((runner, sources.compactMapValues(\.newest)))
    }
    guard await confirm(memories) else { return }
    for (runner, records) in newest { await runner.recognized(after: records) }
  }

  /// Returns whether the partitions are those that the lanes have read. If not, the worker ends.
  @discardableResult
  private func confirm(_ memories: [TopicPartition: PartitionMemory]) async -> Bool {
    guard !memories.isEmpty else { return false }
    do {
      try await parts.check.confirm(memories)
      return true
    } catch let replacement as TopicReplacement {
      stop(because: replacement)
    } catch {
      // The next turn asks again.
      parts.logger.warning(
        "could not compare the topics with the records that were read", metadata: ["error": "\(error)"])
    }
    return false
  }

  /// Ends the worker. Nothing more is committed, because every commit has the offsets of the topic that is gone.
  private func stop(because replacement: TopicReplacement) {
    parts.committer.abandon()
    fail(replacement.error(of: parts.topics))
  }

  private func carryOut(_ actions: [LaneOwnership.Action]) async {
    var leaving: [(LaneEpoch, isDrop: Bool)] = []
    for action in actions {
      switch action {
      case .start(let epoch): begin(epoch)
      case .drain(let epoch): leaving.append((epoch, false))
      case .drop(let epoch): leaving.append((epoch, true))
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for (epoch, isDrop) in leaving { group.addTask { await self.end(epoch, isDrop: isDrop) } }
    }
  }

  private func begin(_ epoch: LaneEpoch) {
    let own = partitions.values.filter { $0.partition.partition == epoch.lane }
    releaseLedgers()
    let ledger = kept.removeValue(forKey: epoch.lane)
    let starter = starter
    let work = Task {
      do {
        let runner = try await starter.start(epoch, own, ledger)
        guard await admit(runner, at: await runner.progress) else { return }
        try await runner.run()
      } catch let replacement as TopicReplacement {
        stop(because: replacement)
      } catch {
        // The lane was handed over while it started. That caused the error, and the next owner starts the lane.
        guard !Task.isCancelled, !(error is CancellationError) else { return }
        fail(error)
      }
    }
    lanes[epoch] = Lane(work: work)
  }

  private func admit(_ runner: LaneRunner, at start: LaneProgress) async -> Bool {
    guard ownership.restored(runner.epoch) else { return false }
    lanes[runner.epoch]?.runner = runner
    for (topic, source) in start.sources {
      measured[TopicPartition(topic: topic, partition: runner.epoch.lane)] = source
    }
    parts.committer.attach(runner, as: runner.epoch)
    share.add(runner.epoch.lane)
    budget?.setPart(share.part)
    parts.logger.info("lane started", metadata: ["lane": "\(runner.epoch.lane)"])
    report()
    return true
  }

  private func end(_ epoch: LaneEpoch, isDrop: Bool) async {
    guard let lane = lanes[epoch] else { return }
    if let runner = lane.runner {
      if !isDrop { await drain(runner) }
      parts.committer.detach(epoch)
      kept[epoch.lane] = await runner.keptLedger()
      await runner.stop()
      if await runner.isLeftUnmarked { starter.notices.left(epoch, as: runner.owner, runner.pool) }
    }
    lane.work.cancel()
    await lane.work.value
    await parts.commands.forget(epoch)
    lanes[epoch] = nil
    measured = measured.filter { $0.key.partition != epoch.lane }
    positions = positions.filter { $0.key.partition != epoch.lane }
    parts.metrics.left(lane: epoch.lane, topics: parts.topics.sources)
    share.remove(epoch.lane)
    budget?.setPart(share.part)
    parts.logger.info("lane left", metadata: ["lane": "\(epoch.lane)", "lost": "\(isDrop)"])
    await carryOut(ownership.ended(epoch))
  }

  private func drain(_ runner: LaneRunner) async {
    var drain = Drain(limit: parts.policy.drainTimeout)
    var actions = drain.begin(now: parts.clock.now, handlers: await runner.stopTaking())
    while !drain.hasLeft, !Task.isCancelled {
      if actions.contains(.cancelHandlers) { await runner.handBack() }
      if actions.contains(.commit) {
        await runner.writeEnd()
        let isDone = await within(drain) { [committer = parts.committer] in await committer.flush(runner.epoch) }
        actions = isDone ? drain.committed() : drain.passed(now: parts.clock.now)
      } else {
        let isIdle = await within(drain) { await runner.waitUntilIdle() }
        actions = isIdle ? drain.handlersLeft(0) : drain.passed(now: parts.clock.now)
      }
    }
  }

  /// Runs `work`, at most until the drain's next deadline, and returns whether it has finished.
  private func within(_ drain: Drain, _ work: @escaping @Sendable () async -> Void) async -> Bool {
    guard let wakeAt = drain.wakeAt else { return true }
    do {
      return try await parts.clock.result(within: parts.clock.now.duration(to: wakeAt), of: work) != nil
    } catch {
      return false
    }
  }

  private func report() {
    state.note(owned: lanes.count, isReady: ownership.isReady)
  }
}
