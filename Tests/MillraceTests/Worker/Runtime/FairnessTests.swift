// Nobody waits for long for somebody else's records: many keys, one key, an app that waits for Apple.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(5))) struct FairnessTests {
  @Test func `an app is served within ten seconds behind another's records that wait for Apple`() async throws {
    let mill = try Mill(lanes: 1)
    let clock = mill.time.clock
    let handler = MillHandler(Book()) { item, journal in
      guard item.group == "com.example.a" else { return try await MillHandler.answer(item, journal) }
      throw Turn(until: clock.wallTime + .seconds(3_600))
    }
    for number in 0..<3_000 { try mill.put("a\(number)", key: "a\(number)") }
    let process = mill.start("p", handler)
    await mill.until { mill.log.records(in: mill.topics.retries[1]).count >= 1_500 }
    // The backlog comes back from the tiers in waves while others arrive.
    for number in 0..<20 {
      let id = "b\(number)"
      try mill.put(id, key: id, app: "com.example.b")
      let wait = await mill.until(within: .seconds(60), step: .milliseconds(100)) { mill.answered().contains(id) }
      #expect(try #require(wait) < .seconds(10), "\(id)")
      mill.time.advance(by: .seconds(3))
    }
    await process.crash()
  }

  private struct Turn: ClassifiedFailure {
    var until: Timestamp
    var disposition: FailureDisposition { .wait(until: until) }
  }

  @Test func `a hundred thousand keys pass through a lane that holds a few hundred records`() async throws {
    let mill = try Mill(lanes: 1) { $0.commitCount = 2_000 }
    let book = Book()
    let process = mill.start("p", MillHandler(book) { _, _ in .ignore })
    let count = 100_000
    for number in 0..<count { try mill.put("n\(number)", key: "k\(number)") }
    #expect(await mill.until(step: .milliseconds(1)) { book.runs.count == count && mill.isRead() } != nil)
    #expect(book.mostRunning <= mill.policy.parallelism)
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await process.crash()
  }

  @Test func `the records of one hot key run one at a time in their order, and others pass them`() async throws {
    let mill = try Mill(lanes: 1)
    let book = Book()
    let clock = mill.time.clock
    let process = mill.start(
      "p",
      MillHandler(book) { item, journal in
        if item.id.hasPrefix("hot") { try await clock.sleep(until: clock.now.advanced(by: .milliseconds(10))) }
        return try await MillHandler.answer(item, journal)
      })
    for number in 0..<150 { try mill.put("hot\(number)", key: "hot") }
    try mill.put("other", key: "cold")
    #expect(await mill.until { mill.answered().contains("other") } != nil)
    #expect(mill.answered().count < 150)
    #expect(await mill.until { mill.answered().count == 151 } != nil)
    let hot = mill.answered().filter { $0 != "other" }
    #expect(hot == (0..<150).map { "hot\($0)" })
    await process.crash()
  }
}
