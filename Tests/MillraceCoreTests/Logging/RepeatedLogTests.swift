import Logging
import MillraceTime
import ServiceLifecycle
import Synchronization
import Testing

@testable import MillraceCore

@Suite(.timeLimit(.minutes(5))) struct RepeatedLogTests {
  private func line(_ detail: String) -> RepeatedLines.Line {
    .init(level: .error, message: "refused", metadata: ["detail": "\(detail)"])
  }

  @Test func `a reason has one line in ten seconds, with the number of refusals and the last one's details`() {
    var lines = RepeatedLines(interval: .seconds(10))
    var logged: [RepeatedLines.Line] = []
    // A refusal every 10 ms for 25 s.
    for step in 0..<2_500 {
      logged += [lines.add(line("\(step)"), reason: "a", at: .milliseconds(step * 10))].compactMap(\.self)
    }
    #expect(logged.map(\.count) == [1, 1_000, 1_000])
    #expect(logged.map(\.metadata) == ["0", "1000", "2000"].map { ["detail": "\($0)"] })
    #expect(lines.due(at: .milliseconds(29_999)).isEmpty)
    #expect(lines.due(at: .seconds(30)).map(\.count) == [499])
    #expect(lines.due(at: .seconds(60)).isEmpty)
    // After ten quiet seconds the next refusal has a line at once.
    #expect(lines.add(line("late"), reason: "a", at: .seconds(60))?.count == 1)
  }

  @Test func `reasons do not delay each other`() {
    var lines = RepeatedLines(interval: .seconds(10))
    for reason in ["a", "b"] {
      #expect(lines.add(line(reason), reason: reason, at: .zero)?.count == 1)
      #expect(lines.add(line(reason), reason: reason, at: .seconds(9)) == nil)
    }
    #expect(lines.add(line("c"), reason: "a", at: .seconds(10))?.count == 2)
    #expect(lines.due(at: .seconds(11)).map(\.count) == [1])
    #expect(lines.due(at: .seconds(11), all: true).isEmpty)
  }

  @Test func `an outage has few lines, and a shutdown reports what is left`() async throws {
    let output = Mutex<[String]>([])
    let sink = LogSink { line in output.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    let time = ManualClock()
    let handler = LogSettings().handler(label: "test", clock: .system, sink: sink, isTerminal: false)
    let refusals = RepeatedLog(
      Logger(label: "test") { _ in handler }, clock: time.clock, interval: .seconds(10), counting: "refusals")
    let group = ServiceGroup(
      configuration: .init(services: [refusals], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }))
    let running = Task { try await group.run() }
    await time.waitForSleepers()
    for _ in 0..<3_807 { refusals.add(.error, "refused", reason: "kafka-unavailable", ["topic": "t"]) }
    time.advance(by: .seconds(10))
    await time.waitForSleepers()
    refusals.add(.error, "refused", reason: "kafka-unavailable", ["topic": "t"])
    await group.triggerGracefulShutdown()
    try await running.value
    let lines = output.withLock { $0 }
    #expect(lines.count == 3, "\(lines)")
    for (line, count) in zip(lines, [1, 3_806, 1]) { #expect(line.contains(#""refusals":"\#(count)""#), "\(line)") }
  }
}
