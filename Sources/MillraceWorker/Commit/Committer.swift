// Commits outcomes to Kafka in batches, together with their offsets. A repeated commit never runs a handler again. A
// worker has one committer, so one producer writes all of its transactions. ``CommitBatch`` decides which writes belong
// together, and ``CommitProtocol`` decides the order of the steps.

internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Synchronization
internal import MillraceRecords

/// A lane, as seen by the committer.
protocol CommitLane: Sendable {
  /// The lane and its ownership epoch.
  var epoch: LaneEpoch { get }
  /// Adds offsets and ledger records to these writes, or returns nil if the lane was stopped. The call has no side
  /// effects, so the committer can repeat it.
  func seal(_ writes: [LaneWrite]) async -> LaneCommit?
  /// Called after everything is in Kafka.
  func committed(_ commit: LaneCommit) async
}

/// The number of batches that a committer has begun and ended. A batch ends when every lane knows its result.
struct CommitProgress: Sendable, Hashable {
  var begun = 0
  var ended = 0

  /// Whether no batch is on its way.
  var isIdle: Bool { begun == ended }
}

/// Collects writes and commits them, one batch at a time.
final class Committer: Sendable {
  private struct State {
    var batch: CommitBatch<LaneWrite>
    var lanes: [LaneEpoch: any CommitLane] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isClosing = false
    var isOver = false
    var hasCommittedTransaction = false
    /// The number of clients that were replaced since the last committed transaction.
    var replacements = 0
    /// The pauses before replacements; none before the first since the last committed transaction.
    var replacementPauses = Backoff(from: Committer.shortestPause, upTo: .seconds(4))
    var progress = CommitProgress()
  }

  private let calls: CommitCalls
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  private let logger: Logger
  private let state: Mutex<State>
  private let wakeUp = AsyncSignal()

  init(
    calls: CommitCalls, clock: MillraceClock, count: Int, interval: Duration, metrics: WorkerMetrics, logger: Logger
  ) {
    self.calls = calls
    self.clock = clock
    self.metrics = metrics
    self.logger = logger
    state = Mutex(State(batch: CommitBatch(limit: count, interval: interval)))
    calls.producer?.whenClientFails { [wakeUp] in wakeUp.signal() }
  }

  /// Accepts writes of a lane from now on.
  func attach(_ lane: any CommitLane, as epoch: LaneEpoch) {
    state.withLock { state in
      state.batch.attach(epoch)
      state.lanes[epoch] = lane
    }
  }

  /// Accepts no more writes of this epoch and drops those that are not committed.
  func detach(_ epoch: LaneEpoch) {
    let dropped = state.withLock { state in
      state.lanes[epoch] = nil
      return state.batch.detach(epoch)
    }
    settle(dropped, .dropped)
    wakeWaiters()
  }

  /// Adds writes of a lane, in order. Their receipts are always settled, even if the writes are dropped.
  func submit(_ writes: [LaneWrite], of lane: LaneEpoch) {
    let isUrgent = writes.contains { $0.isUrgent }
    let (isTaken, isNews) = state.withLock { state in
      let now = clock.now
      let before = state.batch.readiness(now: now)
      let isTaken = !state.isOver && state.batch.add(writes, of: lane, isUrgent: isUrgent, now: now)
      // Wake the committing task only if this write changes when the next batch is due.
      let after = state.batch.readiness(now: now)
      return (isTaken, before != after)
    }
    guard isTaken else { return settle(writes, .dropped) }
    #if PLANTED_FAULTS
      if PlantedFault.lostWakeUp.isActive { if !isUrgent { return } }
    #endif
    if isNews { wakeUp.signal() }
  }

  /// Waits until all writes that this epoch has submitted so far are committed or dropped.
  func flush(_ epoch: LaneEpoch) async {
    while true {
      let isFlushed = state.withLock { state in
        state.batch.hurry()
        return state.isOver || state.batch.isFlushed(epoch)
      }
      if isFlushed { return }
      wakeUp.signal()
      await withCheckedContinuation { continuation in
        let isFlushed = state.withLock { state in
          if state.isOver || state.batch.isFlushed(epoch) { return true }
          state.waiters.append(continuation)
          return false
        }
        if isFlushed { continuation.resume() }
      }
    }
  }

  /// Whether the committer has ended, so that no more writes can be committed.
  var isOver: Bool { state.withLock { $0.isOver } }
  /// The batches so far.
  var progress: CommitProgress { state.withLock(\.progress) }
  /// Whether at least one transaction was committed.
  var hasCommittedTransaction: Bool { state.withLock { $0.hasCommittedTransaction } }

  /// Commits the remaining writes, then lets ``run()`` return.
  func shutDown() {
    state.withLock { $0.isClosing = true }
    wakeUp.signal()
  }

  /// Commits batches until shut down or cancelled.
  /// - Throws: ``ProducerLoss`` if the lanes have to restart with a new producer; ``KafkaError`` if the process has to
  ///   restart.
  func run() async throws {
    defer { abandon() }
    while let turn = await nextTurn() {
      if case .replace(let producer, let cause) = turn {
        guard try await replaceClient(of: producer, because: cause) else { return }
        continue
      }
      let begun = state.withLock { state in
        let batch = state.batch.begin(now: clock.now)
        if batch != nil { state.progress.begun += 1 }
        return batch
      }
      guard let batch = begun else { continue }
      do {
        try await commit(batch)
        state.withLock { $0.progress.ended += 1 }
      } catch let error as KafkaError where error.code == .closed {
        // The worker has left its group, and the next owners of its lanes start from the committed offsets. If a client
        // was closed for another reason, its own error ends the process.
        return
      }
      wakeWaiters()
    }
  }

  // MARK: - One batch

  private struct Part: Sendable {
    var lane: any CommitLane
    var commit: LaneCommit
  }

  private func commit(_ batch: [CommitBatch<LaneWrite>.Item]) async throws {
    // Read before the lanes seal their writes: if the generation changes in between, the broker refuses the offsets.
    let group = try await calls.membership()
    var parts = await seal(batch)
    guard !parts.isEmpty else { return settle(state.withLock { $0.batch.aborted() }, .dropped) }
    let mode = calls.mode(for: parts.map(\.commit))
    var commit = CommitProtocol(mode)
    var next = CommitProtocol.Next.step(commit.step, isAgain: false)
    let start = clock.now
    var backoff = Backoff(from: .milliseconds(10), upTo: .seconds(1))
    var failure: KafkaError?
    while true {
      switch next {
      case .step(let step, let isAgain):
        if isAgain { try await clock.sleep(until: clock.now.advanced(by: backoff.next())) }
        // Without transactions nothing fences ledger records of a lane that has another owner by now. An old intent or
        // state would take effect, because it follows the records of the new owner.
        if mode == .atLeastOnce, parts.contains(where: { !isAttached($0) }) {
          parts.removeAll { !isAttached($0) }
          guard !parts.isEmpty else { return settle(state.withLock { $0.batch.aborted() }, .dropped) }
        }
        do {
          try await calls.perform(step, parts.map(\.commit), group)
          next = commit.succeeded()
        } catch {
          logger.warning("a commit step failed", metadata: ["step": "\(step)", "error": "\(error)"])
          next = commit.failed(calls.trouble(of: error, at: step))
          if step != .abort || next == .failed { failure = error }
        }
      case .committed, .written:
        #if PLANTED_FAULTS
          if PlantedFault.writtenIsCommitted.isActive(changing: next == .written) { next = .committed }
        #endif
        if next == .written { for index in parts.indices { parts[index].commit.offsets = [] } }
        metrics.committed(in: start.duration(to: clock.now), withOffsets: next == .committed)
        let items = state.withLock { state in
          if mode == .transactional {
            (state.hasCommittedTransaction, state.replacements) = (true, 0)
            state.replacementPauses.reset()
          }
          return state.batch.committed()
        }
        let fate = next == .written ? CommitResult.written : .committed
        // Concurrently, for the same reason as in `seal`.
        await withDiscardingTaskGroup { group in
          for part in parts {
            group.addTask {
              await part.lane.committed(part.commit)
              self.settle(part.commit.writes, fate)
            }
          }
        }
        // Lanes that were stopped before they sealed their writes also have receipts to settle.
        let sealed = Set(parts.map(\.lane.epoch))
        settle(items.filter { !sealed.contains($0.lane) }.flatMap(\.writes), .dropped)
        return
      case .aborted:
        metrics.commitFailed()
        settle(state.withLock { $0.batch.aborted() }, .dropped)
        // Calls to an unavailable broker can fail at once. Wait, because a tight loop would gain nothing.
        return try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50)))
      case .unclear, .failed:
        metrics.commitFailed()
        let error = failure ?? KafkaError(code: .closed, operation: "commit", reason: "the commit failed")
        guard mode == .transactional, let loss = ProducerLoss(error, isCommitUnclear: commit.isUnclear) else {
          throw error
        }
        guard let producer = calls.producer, !commit.isUnclear, [.fenced, .fatal].contains(loss.reason),
          error.code != .closed
        else { throw loss }
        // The transaction was never told to commit. The next client aborts it, and writes the same outcomes again.
        producer.failed(error)
        return settle(state.withLock { $0.batch.aborted() }, .dropped)
      }
    }
  }

  // MARK: - Another client

  /// Replaces the producer's client between two transactions. No lane notices: outcomes wait in memory meanwhile.
  /// - Returns: False if the committer was shut down first.
  /// - Throws: ``ProducerLoss`` if clients fail again and again, or another process has this one's name.
  private func replaceClient(
    of producer: ReplaceableProducer, because cause: ReplaceableProducer.Cause
  ) async throws -> Bool {
    var pause = state.withLock(\.replacementPauses.last)
    // A client whose network is broken is replaced as long as necessary. Other errors may have another reason.
    if state.withLock(\.replacements) >= Self.mostFailures,
      let loss = producer.failure.flatMap({ ProducerLoss($0) })
    {
      throw loss
    }
    var isNew = false
    repeat {
      if pause > .zero { try await clock.sleep(until: clock.now.advanced(by: pause)) }
      // Before each attempt, because a process that was paused may have been replaced, and must not fence the process that
      // has its name now.
      do {
        try await calls.checkName()
      } catch let error as KafkaError {
        logger.warning(
          "cannot check yet whether another process has this one's name; the producer has to wait for that",
          metadata: ["error": "\(error)"])
        pause = Self.shortestPause
        continue
      }
      do {
        if !isNew {
          try producer.replaceClient()
          metrics.replacedClient(cause)
          logger.warning("replaced the client of the transactional producer", metadata: ["cause": "\(cause.rawValue)"])
          state.withLock { state in
            state.replacements += 1
            state.replacementPauses.next()
          }
          isNew = true
        }
        try await producer.initialize(timeout: WorkerWriter.initializationTimeout)
        await calls.prepareAgain(producer, logger)
        return true
      } catch {
        logger.warning("cannot replace the client yet; retrying", metadata: ["error": "\(error)"])
        pause = Self.shortestPause
        // An initialization that has not ended yet continues in the background.
        guard error.transactionRemedy != .retry else { continue }
        isNew = false
        guard let loss = ProducerLoss(error) else { throw error }
        guard state.withLock(\.replacements) < Self.mostFailures else { throw loss }
      }
    } while !state.withLock(\.isClosing)
    return false
  }

  private static let shortestPause = Duration.milliseconds(250)
  /// The number of clients without a committed transaction after which the worker rejoins its group.
  private static let mostFailures = 5

  private func isAttached(_ part: Part) -> Bool {
    let isAttached = state.withLock { $0.lanes[part.lane.epoch] != nil }
    #if PLANTED_FAULTS
      if PlantedFault.detachedWrites.isActive(changing: !isAttached) { return true }
    #endif
    return isAttached
  }

  private func seal(_ batch: [CommitBatch<LaneWrite>.Item]) async -> [Part] {
    let lanes = Dictionary(grouping: batch, by: \.lane).mapValues { $0.flatMap(\.writes) }
      .sorted { $0.key < $1.key }
    // Concurrently: a lane answers when the executor schedules its actor. Waiting for one lane after another would
    // multiply that delay by the number of lanes.
    let sealed = await withTaskGroup(of: (LaneEpoch, Part?).self) { group in
      for (epoch, writes) in lanes {
        group.addTask {
          guard let lane = self.state.withLock({ $0.lanes[epoch] }), let commit = await lane.seal(writes) else {
            return (epoch, nil)
          }
          return (epoch, Part(lane: lane, commit: commit))
        }
      }
      return await group.reduce(into: [LaneEpoch: Part]()) { $0[$1.0] = $1.1 }
    }
    return lanes.compactMap { epoch, _ in
      guard let part = sealed[epoch] else {
        // The lane was stopped. Its writes must not be committed now, or when this batch is written again.
        detach(epoch)
        return nil
      }
      return part
    }
  }

  // MARK: - Waiting

  private enum Turn {
    case commit
    case replace(ReplaceableProducer, ReplaceableProducer.Cause)
  }

  /// Waits until there is something to do. Returns nil if there will be nothing more.
  private func nextTurn() async -> Turn? {
    while !Task.isCancelled {
      let (readiness, isClosing, isOver) = state.withLock { state in
        (state.batch.readiness(now: clock.now), state.isClosing, state.isOver)
      }
      if isOver { return nil }
      // Also while there is nothing to write: a request that arrives late can open a transaction, which the coordinator
      // aborts later, and that fences the client.
      if !(isClosing && readiness == .idle), let producer = calls.producer, let cause = producer.replacementCause {
        return .replace(producer, cause)
      }
      switch readiness {
      case .now: return .commit
      case .idle:
        if isClosing { return nil }
        await wakeUp.wait()
      case .at(let due):
        if isClosing { return .commit }
        await wakeUp.wait(until: due, on: clock)
      }
    }
    return nil
  }

  private func settle(_ writes: [LaneWrite], _ fate: CommitResult) {
    for write in writes { write.receipt?.settle(fate) }
  }

  private func wakeWaiters() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Drops all writes that are not in Kafka and accepts no more.
  func abandon() {
    let dropped = state.withLock { state in
      state.isOver = true
      let epochs = Array(state.lanes.keys)
      state.lanes = [:]
      return epochs.flatMap { state.batch.detach($0) } + state.batch.aborted()
    }
    settle(dropped, .dropped)
    wakeWaiters()
  }
}
