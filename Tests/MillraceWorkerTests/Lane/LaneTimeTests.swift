// Tests the actions of a lane that depend on time, and when it reports the size of its ledger.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct LaneTimeTests {
  private static let step = Duration.milliseconds(100)

  /// Advances time while a process reads the clock, as if its thread were suspended.
  private final class Interruption: Sendable {
    private let readings = Mutex<Int?>(nil)

    /// Schedules the interruption after this many readings.
    func come(after count: Int) { readings.withLock { $0 = count } }
    var isOver: Bool { readings.withLock { $0 == nil } }

    func clock(_ time: ManualClock, _ length: Duration) -> MillraceClock {
      MillraceClock(
        wallTime: {
          let now = time.clock.wallTime
          let isNow = self.readings.withLock { left in
            guard let count = left else { return false }
            left = count > 0 ? count - 1 : nil
            return count == 0
          }
          if isNow { time.advance(by: length) }
          return now
        },
        elapsed: { time.clock.now.elapsed },
        sleepUntil: { try await time.clock.sleep(until: MillraceClock.Instant(elapsed: $0)) })
    }
  }

  @Test(arguments: [WorkerPolicy.Ordering.free, .strict])
  func `a notification whose delayed copy was deleted runs when it is sent again after the delay`(
    ordering: WorkerPolicy.Ordering
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.ordering = ordering }
    let book = Book()
    let isMended = FleetProcess.Shared(false)
    let handler = FleetHandler(book) { item, recorder in
      if item.id == "lost", !isMended.get() { throw HandlerFailed("not yet") }
      return try await FleetHandler.answer(item, recorder)
    }
    let first = fleet.start("p", handler)
    try fleet.put("lost", key: "k")
    let delayIndex = fleet.topics.retries[0]
    #expect(await fleet.until { fleet.log.records(in: delayIndex).count == 1 } != nil)
    await first.crash()
    // No process read the retry topic for the length of its retention.
    try fleet.log.trim(TopicPartition(topic: delayIndex, partition: 0), before: 1)
    fleet.time.advance(by: .seconds(7 * 86_400))
    isMended.set(true)
    let second = fleet.start("q", handler)
    try fleet.put("lost", key: "k")
    try fleet.put("other", key: "o")
    #expect(await fleet.until { fleet.answered() == ["other"] && fleet.isRead() } != nil, "the copy may still exist")
    #expect(book.runs["lost"] == 1)
    await fleet.until(within: RetryDelayPassage.grace + .seconds(60), step: .seconds(1)) { false }
    try fleet.put("lost", key: "k")
    #expect(await fleet.until { fleet.answered() == ["other", "lost"] && fleet.isRead() } != nil)
    // Another copy is a duplicate.
    try fleet.put("lost", key: "k")
    try fleet.put("last", key: "o")
    #expect(await fleet.until { fleet.answered() == ["other", "lost", "last"] && fleet.isRead() } != nil)
    #expect(book.runs["lost"] == 2)
    await second.crash()
  }

  @Test func `a record that falls due while a lane reads its clocks is not late`() async throws {
    let interruption = Interruption()
    let delay = Duration.seconds(2)
    let time = ManualClock()
    let fleet = try WorkerFleet(lanes: 1, time: time, clock: interruption.clock(time, delay + .seconds(1)))
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        if item.history.attempt == 0 { throw HandlerFailed("not yet") }
        return try await FleetHandler.answer(item, recorder)
      })
    // Interrupts each clock reading from the arrival of a record until it is delayed and the lane sleeps.
    for reading in 0..<16 {
      let id = "n\(reading)"
      interruption.come(after: reading)
      try fleet.put(id, key: id)
      let isDelayed = await fleet.until(step: Self.step) {
        fleet.log.records(in: fleet.topics.retries[0]).count > reading && interruption.isOver
      }
      try #require(isDelayed != nil, "reading \(reading)")
      let delayed = try #require(fleet.log.records(in: fleet.topics.retries[0]).last)
      let due = Timestamp(millisecondsSince1970: delayed.timestamp ?? 0) + delay
      let wait = max(.zero, due - fleet.time.clock.wallTime)
      // Small steps, because the machine may be busy. Without the fix the lane would wake 14 s later.
      let passed = await fleet.until(within: wait + .seconds(3), step: .milliseconds(10)) {
        fleet.answered().contains(id)
      }
      #expect(passed != nil, "reading \(reading): the record was due in \(wait)")
      if passed == nil { await fleet.until(step: Self.step) { fleet.answered().contains(id) } }
    }
    await process.crash()
  }

  @Test func `a lane reports the size of its ledger before its first commit`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let first = fleet.start("p", FleetHandler(Book()))
    for number in 0..<5 { try fleet.put("n\(number)", key: "k") }
    #expect(await fleet.until { fleet.answered().count == 5 && fleet.isRead() } != nil)
    await first.crash()
    func entries() -> Substring? {
      fleet.metrics.render().split(separator: "\n").first { $0.hasPrefix("millrace_worker_ledger_entries{") }?
        .split(separator: " ").last
    }
    WorkerMetrics(worker: "mill", factory: fleet.metrics).ledger(0, lane: 0)
    #expect(entries() == "0")
    let next = fleet.start("q", FleetHandler(Book()))
    #expect(await fleet.until { entries() == "5" } != nil)
    await next.crash()
  }
}
