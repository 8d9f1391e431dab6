// A lane that consists only of the decision types. The test drives it by random steps.

import AppStore
import AppStoreSigning
import MillraceTime
import Testing

@testable import MillraceWorker

struct ModelLane {
  private struct Running {
    var record: ModelRecord
    var position: SourcePosition
    var verdict: LedgerVerdict
    var effect: String?
    /// The body of the call, set when the intent is durable.
    var body: [UInt8]?
    var isCalled = false
  }

  typealias Item = (record: ModelRecord, position: SourcePosition)
  private enum Waiting: Sendable {
    case run(ModelRecord, SourcePosition), move(ModelRecord, SourcePosition, delayIndex: Int)
  }

  static let limits = KeyedScheduler<Boxed>.Limits(records: 12, bytes: 1_200, handlers: 4, waiting: 1)
  struct Boxed: Sendable {
    var record: ModelRecord
    var position: SourcePosition
  }

  let seed: UInt64
  let isStrict: Bool
  let mode: CommitProtocol.Mode
  private let schedule = RetrySchedule(delays: ModelLog.indices, maximumAttempts: 6)
  private let epoch: LaneEpoch
  private(set) var ledger: Ledger
  private var watermarks: LaneWatermarks
  private var next: [String: Int64]
  private var keys = KeyedScheduler<Boxed>(limits: Self.limits)
  private var heaps = [DueHeap<Waiting>](repeating: DueHeap(places: 6), count: ModelLog.indices.count)
  private var batch = CommitBatch<ModelWrite>(limit: 5, interval: .zero)
  private var running: [UInt64: Running] = [:]
  private var ran: Set<SourcePosition> = []

  /// Starts from the committed state. `kept` is the ledger of an earlier epoch in the same process, and the number of
  /// entries that it has read.
  init(
    _ log: ModelLog, epoch: UInt64, keeping kept: (ledger: Ledger, seen: Int)?, strict: Bool, mode: CommitProtocol.Mode,
    seed: UInt64
  ) {
    (self.seed, isStrict, self.mode) = (seed, strict, mode)
    self.epoch = LaneEpoch(lane: 0, epoch: epoch)
    next = Dictionary(uniqueKeysWithValues: ModelLog.sources.map { ($0, log.committed[$0] ?? 0) })
    watermarks = LaneWatermarks(startingAt: next)
    ledger = kept?.ledger ?? Ledger()
    ledger.dropStaged()
    for entry in log.ledger.dropFirst(kept?.seen ?? 0) { ledger.restore(entry) }
    batch.attach(self.epoch)
  }

  /// Whether the lane has no records in flight and has read all sources.
  func isIdle(_ log: ModelLog) -> Bool {
    keys.count == 0 && batch.count == 0 && heaps.allSatisfy { $0.count == 0 }
      && next.allSatisfy { $0.value == log.end(of: $0.key) }
  }

  /// Reads the next record of a source if there is space for it.
  mutating func read(_ source: String, _ log: ModelLog) {
    guard let offset = next[source], offset < log.end(of: source), let record = log.topics[source]?[Int(offset)] else {
      return
    }
    let position = SourcePosition(topic: source, offset: offset)
    if source.hasPrefix("retry."), let delayIndex = Int(source.dropFirst(6)) {
      guard heaps[delayIndex].hasRoom(for: 0) else { return }
      let step = schedule.step(
        delayIndex: delayIndex, appended: record.appended, due: record.due ?? record.appended, deadline: nil)
      switch step {
      case .run(let due): check(heaps[delayIndex].insert(.run(record, position), due: due))
      case .move(let due, let to): check(heaps[delayIndex].insert(.move(record, position, delayIndex: to), due: due))
      }
    } else {
      guard admit(record, position) else { return }
    }
    check(watermarks.take(position), "seed \(seed): \(position) was already taken")
    next[source] = offset + 1
    #expect(keys.count <= Self.limits.records && keys.bytes <= Self.limits.bytes, "seed \(seed): out of bounds")
  }

  private mutating func admit(_ record: ModelRecord, _ position: SourcePosition) -> Bool {
    keys.admit(
      Boxed(record: record, position: position), key: [record.key], group: "\(record.key % 2)", bytes: 100,
      isReplay: position.topic == "replay")
  }

  /// Moves due records out of their heaps.
  mutating func wake(_ now: Timestamp) {
    for delayIndex in heaps.indices where keys.hasRoom(for: 100) {
      switch heaps[delayIndex].popDue(at: now) {
      case .run(let record, let position):
        #expect(record.due.map { $0 <= now } == true, "seed \(seed): early")
        check(admit(record, position))
      case .move(let record, let position, let to):
        guard case .run = ledger.verdict(for: .number(record.id), arriving: record.arrival) else {
          // The record is done, superseded or reapplied. A reapplied record has no ledger entry with its retry delay.
          if case .reapply = ledger.verdict(for: .number(record.id), arriving: record.arrival) {
            submit(ModelWrite(finishes: position, delayed: [(to, record)]))
          } else {
            submit(ModelWrite(finishes: position))
          }
          continue
        }
        guard case .retry(let attempt, _) = record.arrival else { continue }
        submit(
          ModelWrite(
            finishes: position, delayed: [(to, record)],
            entries: delaying(record, attempt: attempt, delayIndex: to, now)))
      case nil: continue
      }
    }
  }

  /// Starts a handler for the next record, or decides without a handler.
  mutating func handOut(_ now: Timestamp, log: ModelLog) {
    guard let job = keys.next() else { return }
    let (record, position) = (job.record.record, job.record.position)
    let id = LedgerKey.number(record.id)
    let verdict = ledger.verdict(for: id, arriving: record.arrival)
    let attempt: Int
    switch verdict {
    case .skip: return decide(job.number, ModelWrite(finishes: position))
    case .run(let runs), .reapply(let runs, _): attempt = runs
    }
    if isStrict,
      let before = ledger.predecessor(
        of: id, key: .number(Int(record.key)), arriving: record.arrival, behind: record.behind)
    {
      var delayed = record
      delayed.arrival = .retry(attempt: attempt, reapplying: record.isReapplied)
      delayed.behind = before.id
      delayed.due = now + ModelLog.indices[before.delayIndex]
      return decide(
        job.number,
        ModelWrite(
          finishes: position, delayed: [(before.delayIndex, delayed)],
          entries: delaying(record, attempt: attempt, delayIndex: before.delayIndex, now)))
    }
    check(ran.insert(position).inserted, "seed \(seed): a handler ran twice for \(position) in one epoch")
    #expect(!running.values.contains { $0.record.key == record.key }, "seed \(seed): two records of one key ran")
    // Without transactions a crash can separate a notification's entry from its key's chain and break the order.
    if isStrict, mode == .transactional, case .run = verdict { checkOrder(of: record, log) }
    var run = Running(record: record, position: position, verdict: verdict)
    if record.id.isMultiple(of: 3) {
      let name = "effect/\(record.id)"
      let body = Array("\(record.id)@\(now)".utf8)
      switch ledger.beginEffect(name, body: body, now: now) {
      case .write(let entry):
        run.effect = name
        submit(ModelWrite(entries: [entry], intentOf: job.number))
      case .perform(let body, _): (run.effect, run.body) = (name, body)
      case .ended: break
      case .busy: Issue.record("seed \(seed): two handlers perform \(name)")
      }
    }
    running[job.number] = run
  }

  /// Checks that with strict ordering all earlier records of the key are done or dead.
  private func checkOrder(of record: ModelRecord, _ log: ModelLog) {
    guard !record.isRequeued else { return }
    for earlier in log.topics["live"] ?? [] where earlier.key == record.key && earlier.id < record.id {
      switch ledger[.number(earlier.id)]?.state {
      case .done, .dead, .delayed(_, nil): continue
      case .delayed, nil:
        Issue.record("seed \(seed): \(record.id) ran before \(earlier.id), which is not resolved")
      }
    }
  }

  /// Performs the next step of a handler: a call or an outcome.
  mutating func handle(
    _ now: Timestamp, log: inout ModelLog, version: UInt32, mayFail: Bool, using random: inout SeededGenerator
  ) {
    guard let number = running.keys.sorted().randomElement(using: &random), var run = running[number] else { return }
    if let effect = run.effect, !run.isCalled {
      guard let body = run.body else { return }
      #expect(!log.isEnded(effect), "seed \(seed): \(effect) was caused again after it had ended")
      log.calls[effect, default: []].append(body)
      run.isCalled = true
      running[number] = run
      return
    }
    running[number] = nil
    var write = ModelWrite(finishes: run.position)
    if let effect = run.effect {
      if mayFail, Int.random(in: 0..<4, using: &random) == 0 {
        ledger.leaveEffect(effect)
      } else if let end = ledger.endEffect(effect, result: [1]) {
        write.entries.append(end)
      }
    }
    let id = LedgerKey.number(run.record.id)
    let key = LedgerKey.number(Int(run.record.key))
    var chance = mayFail ? Int.random(in: 0..<10, using: &random) : 9
    let attempt: Int
    switch run.verdict {
    case .run(let runs), .reapply(let runs, _): attempt = runs
    case .skip:
      Issue.record("seed \(seed): a skipped record ran")
      return
    }
    let failed = RetrySchedule.FailedRun(
      attempt: attempt + 1, began: now,
      requested: Bool.random(using: &random) ? .seconds(Int64.random(in: 0...130, using: &random)) : nil)
    let decision = schedule.decide(failed, now: now)
    if chance < 4, case .deadLetter = decision { chance = 4 }
    switch (run.verdict, chance) {
    case (_, 0..<4):
      guard case .delay(let delayIndex, let due) = decision else {
        Issue.record("seed \(seed): not delayed")
        return
      }
      var delayed = run.record
      delayed.arrival = .retry(attempt: attempt + 1, reapplying: run.record.isReapplied)
      (delayed.due, delayed.behind) = (due, nil)
      write.delayed = [(delayIndex, delayed)]
      if case .run = run.verdict {
        write.entries += delaying(run.record, attempt: attempt + 1, delayIndex: delayIndex, now)
      }
    case (.run, 4):
      write.dead = [run.record]
      write.entries += resolving(id, key, .dead, now)
    case (.reapply, 4): write.dead = [run.record]
    case (.run, _):
      write.events = [ModelEvent(id: run.record.id, version: version)]
      write.entries += resolving(id, key, .done(digest: version), now)
    case (.reapply(_, let digest), _):
      if digest != version {
        write.events = [ModelEvent(id: run.record.id, version: version)]
        write.entries.append(.handled(id, Handled(.done(digest: version), at: now)))
      }
    case (.skip, _): break
    }
    decide(number, write)
  }

  private func delaying(_ record: ModelRecord, attempt: Int, delayIndex: Int, _ now: Timestamp) -> [LedgerEntry] {
    let handled = Handled(.delayed(attempt: attempt, delayIndex: record.isRequeued ? nil : delayIndex), at: now)
    return isStrict
      ? ledger.entries(delaying: .number(record.id), key: .number(Int(record.key)), as: handled)
      : [.handled(.number(record.id), handled)]
  }

  private func resolving(_ id: LedgerKey, _ key: LedgerKey, _ state: Handled.State, _ now: Timestamp) -> [LedgerEntry] {
    let handled = Handled(state, at: now)
    return isStrict ? ledger.entries(resolving: id, key: key, as: handled) : [.handled(id, handled)]
  }

  private mutating func decide(_ job: UInt64, _ write: ModelWrite) {
    var write = write
    write.job = job
    submit(write)
    keys.decided(job)
  }

  private mutating func submit(_ write: ModelWrite) {
    for entry in write.entries { ledger.stage(entry) }
    check(batch.add([write], of: epoch, isUrgent: false, now: .second(0)))
  }

  /// The result of a commit.
  enum Fate { case committed, aborted, crash(steps: Int) }

  /// Commits the next batch.
  /// - Returns: False if the process crashed during the commit.
  mutating func commit(_ fate: Fate, _ log: inout ModelLog, now: Timestamp) -> Bool {
    guard let writes = batch.begin(now: .second(0))?.items.flatMap(\.writes) else { return true }
    let offsets = watermarks.offsets(finishing: writes.compactMap(\.finishes))
    switch fate {
    case .aborted:
      // With at-least-once, records that were written before the failure stay written.
      if mode == .atLeastOnce { _ = log.commit(writes, offsets: [], mode: mode, steps: 2, now: now) }
      check(batch.aborted().isEmpty)
      return true
    case .crash(let steps):
      _ = log.commit(writes, offsets: offsets, mode: mode, steps: steps, now: now)
      return false
    case .committed:
      check(log.commit(writes, offsets: offsets, mode: mode, steps: .max, now: now))
      for write in batch.committed().flatMap(\.writes) {
        for entry in write.entries { ledger.settle(entry) }
        if let position = write.finishes { watermarks.finish(position) }
        if let job = write.job { keys.settled(job) }
        guard let job = write.intentOf, case .effect(_, let effect?)? = write.entries.first else { continue }
        if case .intended(let body) = effect.progress { running[job]?.body = body }
      }
      return true
    }
  }
}
