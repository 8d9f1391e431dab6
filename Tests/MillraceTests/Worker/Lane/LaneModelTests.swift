// Tests a model of a whole lane, which specifies the runtime. Random schedules mix arrivals, duplicates, replays,
// requeues, failures, aborts and crashes on an abstract log. The tests assert the promises of design.md during and
// after each run.

import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct LaneModelTests {
  struct World: Sendable, CustomTestStringConvertible {
    var isStrict: Bool
    var mode: CommitProtocol.Mode
    var testDescription: String { "\(isStrict ? "strict" : "free"), \(mode)" }
  }

  static let worlds = [true, false].flatMap { strict in
    [CommitProtocol.Mode.transactional, .atLeastOnce].map { World(isStrict: strict, mode: $0) }
  }

  @Test(arguments: worlds, 0..<250 as Range<UInt64>)
  func `no record is lost, repeated, early or out of order, for any schedule`(world: World, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var log = ModelLog()
    var epoch: UInt64 = 1
    var lane = ModelLane(log, epoch: epoch, keeping: nil, strict: world.isStrict, mode: world.mode, seed: seed)
    var seen = 0
    var now: Int64 = 0
    var version: UInt32 = 1
    var produced = 0

    func restart(isCrash: Bool) {
      epoch += 1
      // A lane that returns to the same process keeps its ledger and reads only the new entries.
      let kept = isCrash ? nil : (lane.ledger, seen)
      lane = ModelLane(log, epoch: epoch, keeping: kept, strict: world.isStrict, mode: world.mode, seed: seed)
      seen = log.ledger.count
    }

    let busySteps = 700
    for step in 0..<60_000 {
      let isBusy = step < busySteps
      if !isBusy, step.isMultiple(of: 50), lane.isIdle(log) { break }
      #expect(step < 59_999, "seed \(seed): no end")
      switch Int.random(in: 0..<24, using: &random) {
      case 0...1 where isBusy: produce(&log, &produced, at: now, using: &random)
      case 2 where isBusy && produced > 0: sendAgain(&log, produced, at: now, using: &random)
      case 3: now += Int64.random(in: 0...(isBusy ? 15 : 60), using: &random)
      case 4..<9: ModelLog.sources.randomElement(using: &random).map { lane.read($0, log) }
      case 9, 10: lane.wake(.second(now))
      case 11..<15: lane.handOut(.second(now), log: log)
      case 15..<20: lane.handle(.second(now), log: &log, version: version, mayFail: isBusy, using: &random)
      case 20, 21:
        let fate: ModelLane.Fate =
          switch isBusy ? Int.random(in: 0..<10, using: &random) : 9 {
          case 0, 1: .aborted
          case 2: .crash(steps: Bool.random(using: &random) ? .max : Int.random(in: 0..<12, using: &random))
          default: .committed
          }
        let before = log.committed
        if !lane.commit(fate, &log, now: .second(now)) { restart(isCrash: Bool.random(using: &random)) }
        checkOffsets(log, since: before, seed)
      case 22 where isBusy && Int.random(in: 0..<10, using: &random) == 0: restart(isCrash: Bool.random(using: &random))
      case 23 where isBusy && Int.random(in: 0..<20, using: &random) == 0: version += 1
      default: break
      }
    }
    checkEnd(log, world, produced, seed)
  }

  private func produce(_ log: inout ModelLog, _ produced: inout Int, at now: Int64, using random: inout SeededGenerator)
  {
    let isDuplicate = produced > 0 && Int.random(in: 0..<5, using: &random) == 0
    let id = isDuplicate ? Int.random(in: 0..<produced, using: &random) : produced
    if !isDuplicate { produced += 1 }
    log.append(ModelRecord(id: id, key: Self.key(of: id), arrival: .live), to: "live", at: .second(now))
  }

  /// Sends an earlier notification again, as an operator does: a plain replay, a reapply or a requeue.
  private func sendAgain(_ log: inout ModelLog, _ produced: Int, at now: Int64, using random: inout SeededGenerator) {
    var arrival: Arrival = Bool.random(using: &random) ? .replay : .reapply
    var id = Int.random(in: 0..<produced, using: &random)
    // A notification that was never handled is not replayed, because it would overtake live records.
    guard log.durableState(of: id) != nil else { return }
    let dead = Bool.random(using: &random) ? log.dead.randomElement(using: &random) : nil
    if let dead { (id, arrival) = (dead.id, .requeue(reapplying: dead.isReapplied)) }
    log.append(
      ModelRecord(id: id, key: Self.key(of: id), arrival: arrival, isRequeued: dead != nil), to: "replay",
      at: .second(now))
  }

  private static func key(of id: Int) -> UInt8 { UInt8(truncatingIfNeeded: (id &* 7) % 5) }

  /// Checks that an offset is committed only after all records below it have a ledger entry.
  private func checkOffsets(_ log: ModelLog, since before: [String: Int64], _ seed: UInt64) {
    for (topic, offset) in log.committed {
      #expect(offset >= before[topic] ?? 0, "seed \(seed): \(topic) went back")
      for record in (log.topics[topic] ?? []).prefix(Int(offset)).dropFirst(Int(before[topic] ?? 0)) {
        #expect(
          log.durableState(of: record.id) != nil, "seed \(seed): \(topic) passed \(record.id), which has no entry")
      }
    }
  }

  private func checkEnd(_ log: ModelLog, _ world: World, _ produced: Int, _ seed: UInt64) {
    for source in ModelLog.sources {
      #expect(log.committed[source] ?? 0 == log.end(of: source), "seed \(seed): \(source) is not committed to its end")
    }
    for id in 0..<produced {
      switch log.durableState(of: id) {
      case .done(let version):
        #expect(
          log.events.contains(ModelEvent(id: id, version: version)), "seed \(seed): \(id) is done without an event")
      case .dead: #expect(log.dead.contains { $0.id == id }, "seed \(seed): \(id) is dead without a dead letter")
      case .delayed: Issue.record("seed \(seed): \(id) waits for ever")
      case nil: Issue.record("seed \(seed): \(id) is lost")
      }
    }
    if world.mode == .transactional {
      #expect(Set(log.events).count == log.events.count, "seed \(seed): an event was published twice")
    }
    for (name, bodies) in log.calls {
      #expect(Set(bodies).count == 1, "seed \(seed): \(name) was called with different bodies")
    }
    // The ledger that a successor would restore must not block any key for ever.
    guard world.mode == .transactional else { return }
    var ledger = Ledger()
    for entry in log.ledger { ledger.restore(entry) }
    for key in 0..<5 { #expect(ledger.tail(of: .number(key)) == nil, "seed \(seed): key \(key) stays blocked") }
  }
}
