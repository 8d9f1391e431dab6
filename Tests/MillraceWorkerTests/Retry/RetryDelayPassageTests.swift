import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct RetryDelayPassageTests {
  private static let delayedAt = Timestamp.second(0)
  private static let hour: Int64 = 3_600
  private static let delays = [Duration.seconds(10), .seconds(hour)]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var delayIndex: Int?
    /// Seconds after the record was delayed.
    var now: Int64
    var started: Int64 = 0
    var nextDue: [Int64?] = [nil, nil]
    var hasPassed: Bool
  }

  /// Every wait has one more minute, because the ledger stores minutes.
  static let table: [Row] = [
    Row(testDescription: "the delay is not over", delayIndex: 1, now: hour, hasPassed: false),
    Row(testDescription: "a little late", delayIndex: 1, now: 2 * hour, hasPassed: false),
    Row(testDescription: "too late", delayIndex: 1, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "a shorter delay", delayIndex: 0, now: hour + 71, hasPassed: true),
    Row(testDescription: "a shorter delay, a little late", delayIndex: 0, now: hour + 60, hasPassed: false),
    Row(testDescription: "an unknown delay counts as the longest", delayIndex: nil, now: hour + 71, hasPassed: false),
    Row(testDescription: "an unknown delay, too late for all", delayIndex: nil, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "a delay that is not configured", delayIndex: 7, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "the lane started late", delayIndex: 0, now: 100 * hour, started: 99 * hour, hasPassed: false),
    Row(
      testDescription: "the lane ran long enough", delayIndex: 0, now: 100 * hour + 1, started: 99 * hour,
      hasPassed: true),
    Row(
      testDescription: "its retry topic is late", delayIndex: 0, now: 9 * hour, nextDue: [10, nil], hasPassed: false),
    Row(
      testDescription: "its retry topic is past it", delayIndex: 0, now: 9 * hour, nextDue: [71, nil], hasPassed: true),
    Row(
      testDescription: "another retry topic is late", delayIndex: 0, now: 9 * hour, nextDue: [nil, 10], hasPassed: true),
    Row(
      testDescription: "any retry topic is late", delayIndex: nil, now: 9 * hour, nextDue: [nil, 10], hasPassed: false),
  ]

  @Test(arguments: table)
  func `a copy that should have arrived by now is not waited for`(row: Row) {
    let passage = RetryDelayPassage(
      delays: Self.delays, nextDue: row.nextDue.map { $0.map { .second($0) } }, started: .second(row.started),
      now: .second(row.now))
    #expect(
      passage.hasPassed(Handled(.delayed(attempt: 1, delayIndex: row.delayIndex), at: Self.delayedAt)) == row.hasPassed)
    #expect(!passage.hasPassed(Handled(.done(digest: 1), at: Self.delayedAt)))
    #expect(!passage.hasPassed(Handled(.dead, at: Self.delayedAt)))
  }

  /// A lane reads a retry topic in order, at random times and into a small heap. Copies in the heap and unread copies
  /// must be waited for.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a copy that exists is waited for`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let delay = Duration.seconds(Int64.random(in: 1...7_200, using: &random))
    let delayed = (0..<40).map { _ in Timestamp.second(Int64.random(in: 0...20_000, using: &random)) }.sorted()
    let started = Timestamp.second(Int64.random(in: 0...20_000, using: &random))
    var heap = DueHeap<Timestamp>(places: 4)
    var unread = delayed[...]
    var now = max(started, delayed[0])
    while !unread.isEmpty || heap.count > 0 {
      // The lane reads before it asks, because a lane that does not read its retry topics does no other work.
      while let next = unread.first, next <= now, heap.insert(next, due: next + delay) { unread.removeFirst() }
      let passage = RetryDelayPassage(delays: [delay], nextDue: [heap.nextDue], started: started, now: now)
      let there = delayed.filter { $0 <= now }.suffix(heap.count + unread.count { $0 <= now })
      for copy in there {
        #expect(!passage.hasPassed(Handled(.delayed(attempt: 1, delayIndex: 0), at: copy)), "seed \(seed) at \(now)")
      }
      now = now + .seconds(Int64.random(in: 1...4_000, using: &random))
      if Bool.random(using: &random) { _ = heap.popDue(at: now) }
    }
  }
}
