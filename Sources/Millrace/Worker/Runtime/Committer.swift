// Brings outcomes into Kafka: batches them, commits them with their offsets, and never asks a handler twice. One for
// each worker, so that every transaction belongs to one producer. ``CommitBatch`` decides what goes together,
// ``CommitProtocol`` in which order.

internal import Clocks
internal import Kafka
internal import Logging
internal import Synchronization

/// Where a batch's lanes say what belongs to it.
protocol CommitLane: Sendable {
  /// The lane and the epoch of its ownership.
  var epoch: LaneEpoch { get }
  /// Seals writes of this lane: the offsets to commit once they are done, and the ledger's records for them. Nil where
  /// the lane was stopped. Changes nothing, so that it can be asked again.
  func seal(_ writes: [LaneWrite]) async -> SealedWrites?
  /// The sealed writes are in Kafka.
  func committed(_ writes: [LaneWrite], as sealed: SealedWrites) async
}

/// What a lane adds to its writes.
struct SealedWrites: Sendable {
  /// For every source of the lane, also where nothing moved: the group fences by offset commits only.
  var offsets: [CommittedOffset]
  /// The ledger's records.
  var ledger: [ProducerRecord]
  /// What of them is a page, for the lane's own ledger.
  var page: LedgerEntry?
}

/// Collects writes and commits them, one batch at a time.
final class Committer: Sendable {
  private struct State {
    var batch: CommitBatch<LaneWrite>
    var lanes: [LaneEpoch: any CommitLane] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isClosing = false
    var isOver = false
  }

  private let calls: CommitCalls
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  private let logger: Logger
  private let state: Mutex<State>
  private let bell = LaneBell()

  init(
    calls: CommitCalls, clock: MillraceClock, count: Int, interval: Duration, metrics: WorkerMetrics, logger: Logger
  ) {
    self.calls = calls
    self.clock = clock
    self.metrics = metrics
    self.logger = logger
    state = Mutex(State(batch: CommitBatch(limit: count, interval: interval)))
  }

  /// Admits a lane's writes from now on.
  func attach(_ lane: any CommitLane, as epoch: LaneEpoch) {
    state.withLock { state in
      state.batch.attach(epoch)
      state.lanes[epoch] = lane
    }
  }

  /// Takes no more writes of this epoch; those that wait are dropped.
  func detach(_ epoch: LaneEpoch) {
    let dropped = state.withLock { state in
      state.lanes[epoch] = nil
      return state.batch.detach(epoch)
    }
    settle(dropped, .dropped)
    wakeWaiters()
  }

  /// Takes writes of a lane, in their order. Their receipts, where they have one, are settled in any case.
  func submit(_ writes: [LaneWrite], of lane: LaneEpoch) {
    let isUrgent = writes.contains { $0.isUrgent }
    let (isTaken, isNews) = state.withLock { state in
      let now = clock.now
      let before = state.batch.readiness(now: now)
      let isTaken = !state.isOver && state.batch.add(writes, of: lane, isUrgent: isUrgent, now: now)
      // Whoever waits for a time need not be woken for every write that comes before it.
      let after = state.batch.readiness(now: now)
      return (isTaken, before != after)
    }
    guard isTaken else { return settle(writes, .dropped) }
    if isNews { bell.ring() }
  }

  /// Waits until everything that this epoch handed in so far is committed or dropped.
  func flush(_ epoch: LaneEpoch) async {
    while true {
      let isFlushed = state.withLock { state in
        state.batch.hurry()
        return state.isOver || state.batch.isFlushed(epoch)
      }
      if isFlushed { return }
      bell.ring()
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

  /// Whether nothing can be committed any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Commits what is left and lets ``run()`` return.
  func shutDown() {
    state.withLock { $0.isClosing = true }
    bell.ring()
  }

  /// Commits batches until shut down or cancelled.
  /// - Throws: ``KafkaError`` where the process has to start anew.
  func run() async throws {
    defer { end() }
    while await waitForBatch() {
      guard let batch = state.withLock({ $0.batch.begin(now: clock.now) }) else { continue }
      do {
        try await commit(batch)
      } catch let error as KafkaError where error.code == .closed {
        // The group was left, and whoever owns the lanes now starts from what was committed. Had a client ended for
        // another reason, its own error ends the process.
        return
      }
      wakeWaiters()
    }
  }

  // MARK: - One batch

  private struct Part: Sendable {
    var lane: any CommitLane
    var writes: [LaneWrite]
    var sealed: SealedWrites
  }

  private func commit(_ batch: CommitBatch<LaneWrite>.Batch) async throws {
    // Before the lanes are asked: whatever is sealed then is of this generation or of one that is refused.
    let group = try await calls.membership()
    var parts = await seal(batch)
    guard !parts.isEmpty else { return settle(state.withLock { $0.batch.aborted() }, .dropped) }
    var content = content(of: parts, group)
    let mode = calls.mode(for: content)
    var commit = CommitProtocol(mode)
    var next = CommitProtocol.Next.step(commit.step, isAgain: false)
    let start = clock.now
    var pause = Duration.milliseconds(10)
    while true {
      switch next {
      case .step(let step, let isAgain):
        if isAgain {
          try await clock.sleep(until: clock.now.advanced(by: pause))
          pause = min(pause * 2, .seconds(1))
        }
        // Without a transaction nothing fences what is said of a lane that is known to be another's: behind what its new
        // owner wrote, an older intent or state would be what counts.
        if mode == .atLeastOnce, parts.contains(where: { !isAttached($0) }) {
          parts.removeAll { !isAttached($0) }
          guard !parts.isEmpty else { return settle(state.withLock { $0.batch.aborted() }, .dropped) }
          content = self.content(of: parts, group)
        }
        do {
          try await calls.perform(step, content)
          next = commit.succeeded()
        } catch {
          logger.warning("a commit did not go through", metadata: ["step": "\(step)", "error": "\(error)"])
          next = commit.failed(calls.trouble(of: error, at: step))
          guard next != .failed else { throw error }
        }
      case .committed, .written:
        metrics.committed(in: start.duration(to: clock.now))
        let items = state.withLock { $0.batch.committed() }
        let fate = next == .written ? WriteFate.written : .committed
        // Side by side, as they were sealed.
        await withDiscardingTaskGroup { group in
          for part in parts {
            group.addTask {
              await part.lane.committed(part.writes, as: part.sealed)
              self.settle(part.writes, fate)
            }
          }
        }
        // A lane that was stopped before it sealed its writes has waiters too.
        let sealed = Set(parts.map(\.lane.epoch))
        settle(items.filter { !sealed.contains($0.lane) }.flatMap(\.writes), .dropped)
        return
      case .aborted:
        metrics.commitFailed()
        settle(state.withLock { $0.batch.aborted() }, .dropped)
        // A broker that is away answers at once; asking it in a tight loop helps nobody.
        return try await clock.sleep(until: clock.now.advanced(by: .milliseconds(50)))
      case .failed: return
      }
    }
  }

  private func isAttached(_ part: Part) -> Bool { state.withLock { $0.lanes[part.lane.epoch] != nil } }

  private func content(of parts: [Part], _ group: GroupMetadata?) -> CommitContent {
    CommitContent(
      records: parts.flatMap { $0.writes.flatMap(\.records) }, ledger: parts.flatMap(\.sealed.ledger),
      offsets: parts.flatMap(\.sealed.offsets), group: group)
  }

  private func seal(_ batch: CommitBatch<LaneWrite>.Batch) async -> [Part] {
    let writes = Dictionary(grouping: batch.items, by: \.lane).mapValues { $0.flatMap(\.writes) }
    // Side by side: a lane answers when its turn among all tasks of the process comes, and one turn after the other
    // would take as many times as long as there are lanes.
    let sealed = await withTaskGroup(of: (LaneEpoch, Part?).self) { group in
      for epoch in batch.lanes {
        group.addTask {
          let writes = writes[epoch] ?? []
          guard let lane = self.state.withLock({ $0.lanes[epoch] }), let sealed = await lane.seal(writes) else {
            return (epoch, nil)
          }
          return (epoch, Part(lane: lane, writes: writes, sealed: sealed))
        }
      }
      return await group.reduce(into: [LaneEpoch: Part]()) { $0[$1.0] = $1.1 }
    }
    return batch.lanes.compactMap { epoch in
      guard let part = sealed[epoch] else {
        // Stopped: nothing of it is committed any more, now or when this batch is produced again.
        detach(epoch)
        return nil
      }
      return part
    }
  }

  // MARK: - Waiting

  /// Returns false when there is nothing more to come.
  private func waitForBatch() async -> Bool {
    while !Task.isCancelled {
      let (readiness, isClosing) = state.withLock { ($0.batch.readiness(now: clock.now), $0.isClosing) }
      switch readiness {
      case .now: return true
      case .idle:
        if isClosing { return false }
        await bell.wait()
      case .at(let due):
        if isClosing { return true }
        await bell.wait(until: due, on: clock)
      }
    }
    return false
  }

  private func settle(_ writes: [LaneWrite], _ fate: WriteFate) {
    for write in writes { write.receipt?.settle(fate) }
  }

  private func wakeWaiters() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func end() {
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
