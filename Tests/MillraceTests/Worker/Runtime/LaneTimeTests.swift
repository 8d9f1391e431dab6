// What a lane does because time has passed, and when it says what it knows.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct LaneTimeTests {
  private static let step = Duration.milliseconds(100)

  /// Time that passes while a process reads what the calendar says, as it does where a thread is away in between.
  private final class Interruption: Sendable {
    private let readings = Mutex<Int?>(nil)

    /// It comes after this many readings.
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
  func `a notification whose parked copy is gone runs when it is sent again, once the copy would have come back`(
    ordering: WorkerPolicy.Ordering
  ) async throws {
    let mill = try Mill(lanes: 1) { $0.ordering = ordering }
    let book = Book()
    let isMended = MillProcess.Shared(false)
    let handler = MillHandler(book) { item, journal in
      if item.id == "lost", !isMended.get() { throw RetryableFailure("not yet") }
      return try await MillHandler.answer(item, journal)
    }
    let first = mill.start("p", handler)
    try mill.put("lost", key: "k")
    let tier = mill.topics.retries[0]
    #expect(await mill.until { mill.log.records(in: tier).count == 1 } != nil)
    await first.crash()
    // Nobody read the tier for as long as it keeps records.
    try mill.log.trim(TopicPartition(topic: tier, partition: 0), before: 1)
    mill.time.advance(by: .seconds(7 * 86_400))
    isMended.set(true)
    let second = mill.start("q", handler)
    try mill.put("lost", key: "k")
    try mill.put("other", key: "o")
    #expect(await mill.until { mill.answered() == ["other"] && mill.isRead() } != nil, "it may be there yet")
    #expect(book.runs["lost"] == 1)
    await mill.until(within: TierPassage.grace + .seconds(60), step: .seconds(1)) { false }
    try mill.put("lost", key: "k")
    #expect(await mill.until { mill.answered() == ["other", "lost"] && mill.isRead() } != nil)
    // Once is enough.
    try mill.put("lost", key: "k")
    try mill.put("last", key: "o")
    #expect(await mill.until { mill.answered() == ["other", "lost", "last"] && mill.isRead() } != nil)
    #expect(book.runs["lost"] == 2)
    await second.crash()
  }

  @Test func `what fell due while a lane looked at its clocks is not slept past`() async throws {
    let interruption = Interruption()
    let delay = Duration.seconds(2)
    let time = ManualClock()
    let mill = try Mill(lanes: 1, time: time, clock: interruption.clock(time, delay + .seconds(1)))
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        if item.provenance.attempt == 0 { throw RetryableFailure("not yet") }
        return try await MillHandler.answer(item, journal)
      })
    // Whichever of the readings between a record's coming and its rest on a tier is the lane's last before it sleeps.
    for reading in 0..<16 {
      let id = "n\(reading)"
      interruption.come(after: reading)
      try mill.put(id, key: id)
      let isParked = await mill.until(step: Self.step) {
        mill.log.records(in: mill.topics.retries[0]).count > reading && interruption.isOver
      }
      try #require(isParked != nil, "reading \(reading)")
      let parked = try #require(mill.log.records(in: mill.topics.retries[0]).last)
      let due = Timestamp(millisecondsSince1970: parked.timestamp ?? 0) + delay
      let wait = max(.zero, due - mill.time.clock.wallTime)
      // In small steps: a busy machine has to come to it, and the lane's next look would be 14 s later.
      let passed = await mill.until(within: wait + .seconds(3), step: .milliseconds(10)) {
        mill.answered().contains(id)
      }
      #expect(passed != nil, "reading \(reading): it was due in \(wait)")
      if passed == nil { await mill.until(step: Self.step) { mill.answered().contains(id) } }
    }
    await process.crash()
  }

  @Test func `a lane says how much its ledger holds before it has committed anything`() async throws {
    let mill = try Mill(lanes: 1)
    let first = mill.start("p", MillHandler(Book()))
    for number in 0..<5 { try mill.put("n\(number)", key: "k") }
    #expect(await mill.until { mill.answered().count == 5 && mill.isRead() } != nil)
    await first.crash()
    func entries() -> Substring? {
      mill.metrics.render().split(separator: "\n").first { $0.hasPrefix("millrace_worker_ledger_entries{") }?
        .split(separator: " ").last
    }
    WorkerMetrics(worker: "mill", factory: mill.metrics).ledger(0, lane: 0)
    #expect(entries() == "0")
    let next = mill.start("q", MillHandler(Book()))
    #expect(await mill.until { entries() == "5" } != nil)
    await next.crash()
  }
}
