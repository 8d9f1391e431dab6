// The status of audit entries that have begun and not ended.

import AppStore
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceWorker
import MillraceTesting
import Testing

@testable import Operations

@Suite struct RunHeartbeatTests {
  private static let start = ManualClock().clock.wallTime

  private static func moment(_ seconds: Int) -> Timestamp { start + .seconds(Int64(seconds)) }

  private static func entry(parts: Int = 2, _ more: AuditRecord.Phase...) throws -> AuditEntry {
    var trail = AuditTrail()
    for phase in [.started(parts: parts)] + more {
      trail.fold(AuditRecord(run: "r", .requeue, phase, by: "ann", source: "millrace", at: start, target: "winback"))
    }
    return try #require(trail.entries.first)
  }

  private static func command(_ id: String, run: String? = "r") -> OperationCommand {
    OperationCommand(
      id: id, run: run, item: "dead-letters/0/\(id)", worker: "winback", lane: 0, action: .requeue, why: "", by: "ann",
      at: start)
  }

  private static func heard(_ records: [(OperationsRecord, second: Int)]) -> RunHeartbeat {
    var pulse = RunHeartbeat()
    for (record, second) in records { pulse.fold(record, writtenAt: moment(second)) }
    return pulse
  }

  private static func control(_ verb: RunVerb, run: String = "r") -> OperationsRecord {
    .control(RunControl(run: run, verb, by: "bob", at: start))
  }

  @Test func `a run is silent after a minute without records`() throws {
    let entry = try Self.entry()
    let first = Self.command("1")
    let done = OperationsRecord.result(OperationResult(first, .done, at: Self.start))
    let table: [([(OperationsRecord, second: Int)], now: Int, AuditEntry.Status)] = [
      ([], 59, .goingOn), ([], 60, .silent(since: Self.start)),
      // All commands of a run carry its start time, so the time of writing counts.
      ([(.command(first), 30)], 60, .goingOn), ([(.command(first), 30)], 90, .silent(since: Self.moment(30))),
      ([(.command(first), 30), (done, 80)], 90, .goingOn),
      // Results of an unknown command, and commands of another run.
      ([(done, 80)], 90, .silent(since: Self.start)),
      ([(.command(Self.command("2", run: "s")), 80)], 90, .silent(since: Self.start)),
      ([(.command(Self.command("3", run: nil)), 80)], 90, .silent(since: Self.start)),
      // A paused run is not silent: it waits for the operator.
      ([(Self.control(.pause), 30)], 9_000, .paused),
      ([(Self.control(.pause), 30), (Self.control(.resume), 100)], 120, .goingOn),
      ([(Self.control(.pause), 30), (Self.control(.stop), 100)], 160, .silent(since: Self.moment(100))),
    ]
    for (records, now, status) in table {
      #expect(entry.status(Self.heard(records), at: Self.moment(now)) == status, "\(records) \(now)")
    }
  }

  @Test func `the end of the whole run ends the entry, regardless of its parts`() throws {
    let stopped = try Self.entry(
      .ended(part: AuditRecord.everything, result: .stopped, counts: [.init("requeued", 3)]))
    #expect(stopped.status(RunHeartbeat(), at: Self.moment(0)) == .over(.stopped))
    let half = try Self.entry(.ended(part: "0", result: .done, counts: []))
    #expect(half.status(RunHeartbeat(), at: Self.moment(60)) == .silent(since: Self.start))
    let both = try Self.entry(
      .ended(part: "0", result: .done, counts: []), .ended(part: AuditRecord.everything, result: .stopped, counts: []))
    #expect(both.status(RunHeartbeat(), at: Self.moment(60)) == .over(.stopped))
  }

  @Test func `a repeated control command is a new entry`() {
    var trail = AuditTrail()
    for (verb, second) in [(AuditRecord.Action.pause, 0), (.resume, 1), (.pause, 2), (.pause, 2)] {
      trail.fold(
        AuditRecord(
          run: "r", verb, .started(parts: 0), by: "ann", source: "millrace", at: Self.moment(second), target: "r"))
    }
    #expect(trail.entries.map(\.action) == [.pause, .resume, .pause] && trail.entries.allSatisfy(\.isOver))
    #expect(trail.entry(of: "r", .pause)?.startedAt == Self.moment(2))
  }

  @Test func `a line shows the status to people and to scripts`() throws {
    var trail = AuditTrail()
    trail.fold(
      AuditRecord(
        run: "r1", .replay, .started(parts: 1), by: "ann", source: "millrace", at: Self.start, why: "fixed",
        target: "winback", selection: ["types": ["REFUND"]]))
    trail.fold(
      AuditRecord(
        run: "r2", .discard, .started(parts: 1), by: "bob", source: "millrace", at: Self.start, target: "winback"))
    trail.fold(
      AuditRecord(
        run: "r2", .discard, .ended(part: "commands", result: .failed("interrupted"), counts: [.init("discarded", 2)]),
        by: "bob", source: "millrace", at: Self.moment(1), target: "winback"))
    let survey = AuditSurvey(trail, RunHeartbeat(), at: Self.moment(90))
    #expect(
      survey.lines().map(\.entry.run) == ["r1", "r2"] && survey.lines(isOpenOnly: true).map(\.entry.run) == ["r1"])
    let rows = survey.lines().map { $0.row.map(\.text).joined(separator: "|") }
    #expect(
      rows.first?.contains("replay|ann|winback|silent since ") == true && rows.first?.hasSuffix("r1|fixed") == true)
    #expect(rows.last?.contains("failed: interrupted|2 discarded") == true)
    let json = try survey.lines().map { try JSONObject(parsing: Array($0.jsonLine.utf8)) }
    #expect(json.map { $0["state"] } == ["silent", "over"] && json.map { $0["result"] } == [nil, "failed"])
    #expect(
      json.first?["silentSince"] == .string(Self.start.rfc3339) && json.first?["selection"] == ["types": ["REFUND"]])
  }
}
