// Tests the number and the content of the log lines about failed runs.

import AppStore
import Logging
import MillraceCore
import MillraceTime
import Synchronization
import Testing

@testable import AppStoreServerAPI
@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct FailureLogTests {
  /// A logger whose lines a test reads.
  private final class Lines: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }

    func logger(_ level: LogSettings.Level = .info) -> Logger {
      var settings = LogSettings()
      settings.level = level
      let sink = LogSink { line in self.texts.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
      let handler = settings.handler(label: "test", clock: .system, sink: sink, isTerminal: false)
      return Logger(label: "test") { _ in handler }
    }
  }

  private static let failed = HandlerResult.failed(.retryBySchedule, reason: "handler-error", detail: "no template")

  private func rig(_ logger: Logger, reading ids: [String]) -> LaneRig {
    var rig = LaneRig(logger: logger) { $0.maximumAttempts = 1 }
    for id in ids { rig.produce(id, key: "key-\(id)") }
    rig.readAll()
    return rig
  }

  @Test func `every dead letter has a line that names worker, notification, type, key, attempt and cause`() throws {
    let lines = Lines()
    var rig = rig(lines.logger(), reading: ["a", "b"])
    for _ in 0..<2 { rig.end(try rig.job(), Self.failed) }
    #expect(lines.all.count == 2, "\(lines.all)")
    let line = try #require(lines.all.first)
    for part in [
      #""level":"warning""#, #""worker":"mill""#, #""notification":"a""#, #""key":"key-a""#, #""type":"DID_RENEW""#,
      #""attempt":"1""#, #""reason":"attempts-exhausted""#, "last: handler-error: no template",
    ] { #expect(line.contains(part), "\(part) in \(line)") }
  }

  @Test func `retries have a line for each reason in a minute, with their number`() throws {
    let (lines, time) = (Lines(), ManualClock())
    let log = FailureLog(worker: "w", lines.logger(), clock: time.clock)
    func fail(_ reason: String, _ id: Int) {
      log.retried(.init(subject: ["notification": "\(id)"], attempt: 1, reason: reason, detail: "d"))
    }
    // A failure a second, for two minutes and a half.
    for second in 0..<150 {
      fail("endpoint-error", second)
      log.flush()
      time.advance(by: .seconds(1))
    }
    fail("handler-error", 1)
    let counts = lines.all.compactMap { line in ["1", "60"].first { line.contains(#""retries":"\#($0)""#) } }
    #expect(counts == ["1", "60", "60", "1"], "\(lines.all)")
    log.flush(all: true)
    #expect(lines.all.count == 5 && lines.all[4].contains(#""retries":"29""#), "\(lines.all)")
    #expect(lines.all[4].contains(#""notification":"149""#))
  }

  @Test func `a lane logs what it delays, but not the records behind it`() throws {
    let lines = Lines()
    var rig = LaneRig(logger: lines.logger()) { $0.ordering = .strict }
    for id in ["a", "b"] { rig.produce(id, key: "k") }
    rig.readAll()
    rig.end(try rig.job(), Self.failed)
    #expect(lines.all.count == 1, "\(lines.all)")
    #expect(lines.all.first?.contains(#""reason":"handler-error""#) == true)
    #expect(lines.all.first?.contains(#""level":"notice""#) == true)
  }

  @Test func `an answer is logged with its codes, and its text only at debug level`() throws {
    var answer = CallAnswer(status: 422)
    (answer.problemType, answer.problemTitle) = ("https://example.com/no-template", "No template")
    answer.detailIsForeign = true
    answer.excerpt = "4711 Elm Street"
    let outcome = Outcome.deadLetter("no-template", "Jane Doe has no template").after(answer)
    for (level, isShown) in [(LogSettings.Level.info, false), (.debug, true)] {
      let lines = Lines()
      var rig = rig(lines.logger(level), reading: ["a"])
      rig.end(try rig.job(), .decided(outcome))
      let line = try #require(lines.all.first)
      for part in [
        #""status":"422""#, #""problem-type":"https://example.com/no-template""#, #""problem-title":"No template""#,
      ] { #expect(line.contains(part), "\(part) in \(line)") }
      #expect(line.contains("Jane Doe") == isShown, "\(line)")
      #expect(!line.contains("Elm Street"), "\(line)")
    }
  }

  @Test func `Apple's error code is logged, and its message only at debug level`() {
    let call = APICall(endpoint: .getTransactionInfo, environment: .production, path: [])
    var error = APIError(call, .refused, .never)
    (error.status, error.code, error.message) = (404, .transactionIdNotFound, "Transaction of Jane Doe not found.")
    let answer = CallAnswer(error)
    #expect(answer.status == 404 && answer.appleError == "TransactionIdNotFoundError (4040010)")
    #expect(answer.detailIsForeign)
    error.message = nil
    #expect(!CallAnswer(error).detailIsForeign)
  }

  @Test func `the status of a receiver is in the line`() {
    let refused = ReceiverReply.answered(.refused, status: 410, excerpt: "e")
    #expect(refused.facts?.excerpt == "e")
    #expect(refused.outcome(attempt: 1, refusedAttempts: 5).answer?.status == 410)
    #expect(refused.outcome(attempt: 5, refusedAttempts: 5).answer?.status == 410)
    #expect(
      ReceiverReply.failed(code: "unreachable", detail: "d").outcome(attempt: 1, refusedAttempts: 5).answer == nil)
  }

  @Test func `a failing timer has one line a minute, and one when it becomes a dead letter`() throws {
    let lines = Lines()
    var rig = LaneRig(logger: lines.logger()) { $0.maximumAttempts = 2 }
    rig.produce("a", key: "k")
    rig.readAll()
    let timers = Outcome(.done(.init())).settingTimer("first", at: .second(10), payload: [])
      .settingTimer("second", at: .second(10), payload: [])
    rig.end(try rig.job(), .decided(timers))
    try rig.commitAll()
    rig.passTime(10)
    for _ in 0..<2 { rig.end(try rig.job(), Self.failed) }
    #expect(lines.all.count == 1 && lines.all[0].contains("a timer failed"), "\(lines.all)")
    try rig.commitAll()
    rig.passTime(60)
    for _ in 0..<2 { rig.end(try rig.job(), Self.failed) }
    let dead = lines.all.filter { $0.contains("a timer became a dead letter") }
    #expect(dead.count == 2 && dead.allSatisfy { $0.contains(#""attempt":"2""#) }, "\(lines.all)")
  }
}
