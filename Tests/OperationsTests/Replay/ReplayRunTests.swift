// Tests how runs are folded from records and shown, without a log or a clock.

import AppStore
import MillraceTime
import KafkaClient
import MillraceWorker
import TestEnvironment
import Testing

@testable import Operations

@Suite struct ReplayRunTests {
  private static func moment(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1_000) }

  private static func command(_ id: String, lane: Int32, run: String = "run-1") -> OperationCommand {
    var part = ReplayPart(topic: "t", from: 0, to: 100)
    part.selection.types = ["REFUND"]
    part.rate = 5
    return OperationCommand(
      id: id, run: run, item: id, worker: "w", lane: lane, action: .replay(part), why: "y", by: "ann", at: moment(0))
  }

  private static func book(_ records: [OperationsRecord]) -> RunBook {
    var book = RunBook()
    for (offset, record) in records.enumerated() {
      let record = record.producerRecord("millrace.operations")
      book.fold(
        ConsumerRecord(
          topic: record.topic, partition: 0, offset: Int64(offset), timestamp: 0, key: record.key, value: record.value,
          headers: record.headers))
    }
    return book
  }

  @Test func `the state of a run follows from its parts and from control commands`() throws {
    let (one, two) = (Self.command("1", lane: 0), Self.command("2", lane: 1))
    func result(_ command: OperationCommand, _ outcome: OperationResult.Outcome, sent: Int64) -> OperationsRecord {
      .result(OperationResult(command, outcome, sent: sent, at: Self.moment(10)))
    }
    func say(_ verb: RunVerb) -> OperationsRecord {
      .control(RunControl(run: "run-1", verb, by: "b", at: Self.moment(5)))
    }
    let begun: [OperationsRecord] = [.command(one), .command(two)]
    let progress = begun + [result(one, .progress(next: 50), sent: 7)]
    let table: [([OperationsRecord], ReplayRun.State, Int64, Int64)] = [
      (begun, .running, 0, 0), (progress, .running, 50, 7), (progress + [say(.pause)], .paused, 50, 7),
      (progress + [say(.pause), say(.resume)], .running, 50, 7),
      (progress + [say(.stop), say(.resume)], .stopping, 50, 7),
      (progress + [result(one, .done, sent: 9), result(two, .done, sent: 1)], .done, 200, 10),
      (progress + [result(one, .stopped(next: 60), sent: 8), result(two, .done, sent: 1)], .stopped, 160, 9),
      (progress + [result(one, .failed("gone"), sent: 7), result(two, .done, sent: 1)], .failed, 150, 8),
    ]
    for (records, state, done, sent) in table {
      let run = try #require(Self.book(records).runs.first)
      #expect(run.state == state && run.offsetsDone == done && run.sent == sent && run.offsets == 200, "\(state)")
      #expect(run.selection.types == ["REFUND"] && run.by == "ann" && run.rate == 5)
      let json = try JSONObject(parsing: Array(run.jsonLine.utf8))
      #expect(json.string("state") == state.rawValue && json.string("worker") == "w")
      #expect(run.row.map(\.text).contains("--type REFUND"))
      #expect(run.status == (state == .done || state == .stopped ? .success : .failure))
    }
    let failed = try #require(Self.book(table[7].0).runs.first)
    #expect(failed.sentence.contains("t[0]: gone"))
  }

  @Test func `a run with missing parts is incomplete until an operator stops it`() throws {
    func part(_ id: String, lane: Int32) -> OperationCommand {
      var command = Self.command(id, lane: lane)
      if case .replay(var part) = command.action {
        part.parts = 3
        command.action = .replay(part)
      }
      return command
    }
    let (one, two) = (part("1", lane: 0), part("2", lane: 1))
    func done(_ command: OperationCommand) -> OperationsRecord {
      .result(OperationResult(command, .done, sent: 4, at: Self.moment(10)))
    }
    let parts: [OperationsRecord] = [.command(one), .command(two), done(one)]
    #expect(Self.book(parts).runs.map(\.state) == [.running])
    let run = try #require(Self.book(parts + [done(two)]).runs.first)
    #expect(run.state == .incomplete && run.missing == 1 && !run.isOver && run.status == .failure)
    #expect(run.sentence.contains("1 of 3 partitions were not started"), "\(run.sentence)")
    #expect(run.sentence.contains("millrace replay stop run-1"), "\(run.sentence)")
    let json = try JSONObject(parsing: Array(run.jsonLine.utf8))
    #expect(json.string("state") == "incomplete" && json["missingParts"] == 1)
    #expect(run.row.map(\.text).contains("incomplete"))
    // A late command still counts as a part.
    let late = Self.book(parts + [done(two), .command(part("3", lane: 2))])
    #expect(late.runs.map(\.state) == [.running])
    let stop = OperationsRecord.control(RunControl(run: "run-1", .stop, by: "b", at: Self.moment(20)))
    let closed = try #require(Self.book(parts + [done(two), stop]).runs.first)
    #expect(closed.state == .stopped && closed.isOver)
    #expect(closed.json.string("stoppedBy") == "b" && run.json["stoppedBy"] == nil)
  }

  @Test func `the estimate uses the rate so far, and the bar shows it`() throws {
    let one = Self.command("1", lane: 0)
    let records: [OperationsRecord] = [
      .command(one), .result(OperationResult(one, .progress(next: 25), sent: 3, at: Self.moment(100))),
    ]
    let run = try #require(Self.book(records).runs.first)
    #expect(run.estimate(now: Self.moment(100)) == .seconds(300))
    let bar = run.bar(now: Self.moment(100), width: 80, usesColor: false)
    #expect(bar.contains("25 %, 3 sent, about 5 min") && bar.contains("█"), "\(bar)")
    #expect(try #require(Self.book([.command(one)]).runs.first).estimate(now: Self.moment(100)) == nil)
  }

  @Test func `a run is found by a prefix of its id`() throws {
    let book = Self.book([
      .command(Self.command("1", lane: 0, run: "abc")), .command(Self.command("2", lane: 0, run: "abd")),
    ])
    #expect(try book.run(named: "abc").id == "abc" && book.run(named: "abd").id == "abd")
    for name in ["ab", "x", ""] { #expect(throws: OperationError.self, "\(name)") { try book.run(named: name) } }
  }

  @Test func `progress is one updated line on a terminal, and JSON objects elsewhere`() throws {
    let clock = ManualClock()
    let one = Self.command("1", lane: 0)
    let run = try #require(Self.book([.command(one)]).runs.first)
    for isTerminal in [true, false] {
      let output = CollectedOutput()
      let progress = RunProgress(output.output(isTerminal: isTerminal), asJSON: !isTerminal, clock: clock.clock)
      try progress.report(run)
      try progress.report(run)
      #expect(output.lines.count == 1, "progress is reported at most once a second")
      clock.advance(by: .seconds(2))
      try progress.report(run)
      try progress.end(run)
      #expect(output.lines.count == 3)
      #expect(output.lines.last?.hasPrefix(isTerminal ? "\u{1B}[1A\u{1B}[2K" : "{") == true)
    }
  }
}
