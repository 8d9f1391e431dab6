import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct OperationsLogTests {
  private func command(
    _ id: String, _ item: String = "dead-letters/3/7", lane: Int32 = 3, worker: String = "w",
    action: OperationCommand.Action = .requeue
  ) -> OperationsRecord {
    .command(
      OperationCommand(
        id: id, item: item, worker: worker, lane: lane, action: action, why: "fixed", by: "ada", at: .second(0)))
  }

  private func result(
    _ command: String, _ item: String = "dead-letters/3/7", _ outcome: OperationResult.Outcome = .done
  ) -> OperationsRecord {
    .result(
      OperationResult(
        OperationCommand(
          id: command, item: item, worker: "w", lane: 3, action: .requeue, why: "", by: "", at: .second(0)), outcome,
        at: .second(1)))
  }

  @Test func `the first command for an item wins`() {
    var log = OperationsLog(worker: "w")
    check(log.fold(command("1")) == .accepted)
    check(log.fold(command("2", action: .discard)) == .refused(winner: "1"))
    check(log.fold(command("1")) == .ignored, "the command was written twice")
    #expect(log.open(lane: 3).map(\.command.id) == ["1"])
    #expect(log.open(lane: 2).isEmpty)
  }

  @Test func `a finished command remains the winner`() {
    var log = OperationsLog(worker: "w")
    _ = log.fold(command("1"))
    check(log.fold(result("2")) == .ignored, "the loser has no result")
    check(log.fold(result("1")) == .finished)
    check(log.fold(result("1", "dead-letters/3/7", .failed("gone"))) == .ignored)
    check(log.fold(command("3")) == .refused(winner: "1"))
    #expect(log.open(lane: 3).isEmpty)
    #expect(log.status(of: "dead-letters/3/7")?.outcome == .done)
  }

  @Test func `after a failed command the next command for the item wins`() {
    var log = OperationsLog(worker: "w")
    _ = log.fold(command("1"))
    check(log.fold(command("2")) == .refused(winner: "1"))
    check(log.fold(result("1", "dead-letters/3/7", .failed("gone"))) == .finished)
    #expect(log.status(of: "dead-letters/3/7")?.failure == "gone" && log.open(lane: 3).isEmpty)
    check(log.fold(command("1")) == .ignored)
    check(log.fold(result("2")) == .ignored, "the command was refused before")
    check(log.fold(command("3", action: .discard)) == .accepted)
    #expect(log.open(lane: 3).map(\.command.id) == ["3"], "an item that was open before must be listed once")
    check(log.fold(result("1")) == .ignored)
    check(log.fold(command("4")) == .refused(winner: "3"))
    check(log.fold(result("3")) == .finished)
    check(log.fold(command("5")) == .refused(winner: "3"))
    // Open commands are found quickly even after many failures.
    for number in 0..<10_000 {
      _ = log.fold(command("f\(number)", "i"))
      _ = log.fold(result("f\(number)", "i", .failed("away")))
    }
    _ = log.fold(command("last", "i"))
    #expect(log.open(lane: 3).map(\.command.id) == ["last"])
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a log that keeps no finished commands accepts the same commands`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (whole, short) = (OperationsLog(worker: "w"), OperationsLog(worker: "w", keepsFinished: false))
    var written: [OperationsRecord] = []
    for step in 0..<300 {
      let item = "i\(Int.random(in: 0..<6, using: &random))"
      let record: OperationsRecord
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: record = command("c\(step)", item)
      case 2:
        // A repetition of a command or of a result.
        record = written.randomElement(using: &random) ?? command("c\(step)", item)
      default:
        let open = whole.open(lane: 3).randomElement(using: &random)
        let outcomes: [OperationResult.Outcome] = [.done, .failed("away"), .stopped(next: 1), .progress(next: 2)]
        record = result(
          open?.command.id ?? "none", open?.command.item ?? item, outcomes.randomElement(using: &random) ?? .done)
      }
      written.append(record)
      let (change, other) = (whole.fold(record), short.fold(record))
      if case .refused = change {
        #expect(other == change || other == .ignored, "seed \(seed), step \(step)")
      } else {
        #expect(other == change, "seed \(seed), step \(step)")
      }
      #expect(whole.open(lane: 3) == short.open(lane: 3), "seed \(seed), step \(step)")
      for item in (0..<6).map({ "i\($0)" }) {
        #expect(short.isFree(item) == whole.isFree(item), "seed \(seed), step \(step)")
      }
      #expect(!short.all.values.contains { !$0.isOpen }, "seed \(seed), step \(step)")
    }
  }

  @Test func `a replay continues from its last progress`() {
    var log = OperationsLog(worker: "w")
    let action = OperationCommand.Action.replay(ReplayPart(topic: "t", from: 0, to: 100, isReapply: true))
    check(log.fold(command("1", "replays/1", action: action)) == .accepted)
    check(log.fold(result("1", "replays/1", .progress(next: 50))) == .advanced)
    #expect(log.open(lane: 3).map(\.outcome) == [.progress(next: 50)])
    check(log.fold(result("1", "replays/1", .done)) == .finished)
  }

  @Test func `the last control record of a run applies, and a stop is final`() {
    func say(_ verb: RunVerb) -> OperationsRecord {
      .control(RunControl(run: "r", verb, by: "b", at: .second(3)))
    }
    var log = OperationsLog(worker: "w")
    let part = OperationCommand.Action.replay(ReplayPart(topic: "t", from: 0, to: 9))
    for id in ["1", "2"] {
      var command = OperationCommand(
        id: id, run: "r", item: id, worker: "w", lane: 3, action: part, why: "", by: "", at: .second(0))
      command.lane = 3
      check(log.fold(.command(command)) == .accepted)
    }
    #expect(log.openParts(of: "r") == 2 && log.control(on: "r") == nil)
    check(log.fold(say(.pause)) == .controlled)
    check(log.fold(say(.pause)) == .ignored)
    check(log.fold(say(.resume)) == .controlled)
    #expect(log.control(on: "r") == .resume)
    check(log.fold(result("1", "1", .stopped(next: 4))) == .finished)
    #expect(log.openParts(of: "r") == 1)
    check(log.fold(say(.stop)) == .controlled)
    check(log.fold(say(.resume)) == .ignored)
    #expect(log.control(on: "r") == .stop)
  }

  @Test func `a hundred thousand items settle in linear time`() {
    var log = OperationsLog(worker: "w")
    for number in 0..<100_000 { _ = log.fold(command("c\(number)", "i\(number)")) }
    for number in 0..<100_000 { _ = log.fold(result("c\(number)", "i\(number)")) }
    #expect(log.open(lane: 3).isEmpty)
  }

  @Test func `commands of other workers are ignored`() {
    var log = OperationsLog(worker: "w")
    check(log.fold(command("1", worker: "v")) == .ignored)
    #expect(log.status(of: "dead-letters/3/7") == nil)
  }

  @Test func `records parse from their JSON to the same records`() {
    let actions: [OperationCommand.Action] = [
      .requeue, .discard, .replay(ReplayPart(topic: "t", from: 1, to: 2, isReapply: false)),
      .replay(ReplayPart(topic: "t", from: 1, to: 1, isReapply: true)),
    ]
    var part = ReplayPart(topic: "t", from: 1, to: 9)
    (part.rate, part.parts, part.target) = (10, 3, "u")
    part.selection.types = ["REFUND"]
    part.last = RecordFingerprint(offset: 8, time: 5, digest: .max)
    let outcomes: [OperationResult.Outcome] = [.done, .failed("why"), .progress(next: 9), .stopped(next: 4)]
    var records = (actions + [.replay(part)]).map { command("1", action: $0) } + outcomes.map { result("1", "i", $0) }
    records += RunVerb.allCases.map { .control(RunControl(run: "r", $0, by: "bob", at: .second(2))) }
    for record in records { #expect(OperationsRecord(record.json) == record) }
    #expect(String(decoding: command("1").key, as: UTF8.self) == "w/dead-letters/3/7")
  }

  @Test func `malformed records are rejected`() {
    let values: [JSON] = [
      .null, "text", [:], ["command": "1"],
      ["command": "1", "item": "i", "worker": "w", "lane": 3, "action": "explode", "at": 0],
      ["command": "1", "item": "i", "worker": "w", "lane": 3_000_000_000, "action": "requeue", "at": 0],
      [
        "command": "1", "item": "i", "worker": "w", "lane": 3, "action": "replay", "topic": "t", "from": 5, "to": 4,
        "at": 0,
      ],
      ["command": "1", "item": "i", "worker": "w", "outcome": "progress", "at": 0],
      ["control": "explode", "run": "r", "at": 0],
      [
        "command": "1", "item": "i", "worker": "w", "lane": 3, "action": "replay", "topic": "t", "from": 5, "to": 6,
        "selection": ["colour": "red"], "at": 0,
      ],
      [
        "command": "1", "item": "i", "worker": "w", "lane": 3, "action": "replay", "topic": "t", "from": 5, "to": 6,
        "last": "5:x:1", "at": 0,
      ],
    ]
    for value in values { #expect(OperationsRecord(value) == nil) }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `all readers of the log agree on the winners, and no item is executed twice`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var topic: [OperationsRecord] = []
    var owner = OperationsLog(worker: "w")
    var folded = 0
    var executed: [String] = []
    for step in 0..<120 {
      if Bool.random(using: &random) {
        topic.append(command("c\(step)", "i\(Int.random(in: 0..<10, using: &random))"))
      }
      // The owner lags behind, executes commands, and restarts from time to time.
      if Int.random(in: 0..<6, using: &random) == 0 { (owner, folded) = (OperationsLog(worker: "w"), 0) }
      while folded < topic.count {
        _ = owner.fold(topic[folded])
        folded += 1
      }
      if let next = owner.open(lane: 3).first {
        let isDone = Int.random(in: 0..<4, using: &random) > 0
        if isDone { executed.append(next.command.item) }
        topic.append(result(next.command.id, next.command.item, isDone ? .done : .failed("away")))
      }
    }
    #expect(Set(executed).count == executed.count, "seed \(seed)")
    // The winner is the first command that did not fail, or the last one if all failed.
    var winners: [String: String] = [:]
    var failed: Set<String> = []
    for record in topic {
      switch record {
      case .command(let command):
        if winners[command.item].map({ failed.contains($0) }) ?? true { winners[command.item] = command.id }
      case .result(let result):
        if case .failed = result.outcome { failed.insert(result.command) }
      case .control: break
      }
    }
    for record in topic.dropFirst(folded) { _ = owner.fold(record) }
    for (item, winner) in winners { #expect(owner.status(of: item)?.command.id == winner, "seed \(seed)") }
  }
}
