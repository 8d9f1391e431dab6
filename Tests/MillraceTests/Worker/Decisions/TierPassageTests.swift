import AppStore
import AppStoreSigning
import Testing

@testable import Millrace

@Suite struct TierPassageTests {
  private static let parkedAt = Timestamp.second(0)
  private static let hour: Int64 = 3_600
  private static let delays = [Duration.seconds(10), .seconds(hour)]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var tier: Int?
    /// Seconds after it was parked.
    var now: Int64
    var started: Int64 = 0
    var nextDue: [Int64?] = [nil, nil]
    var hasPassed: Bool
  }

  /// A minute is added to every wait: the ledger knows no more.
  static let table: [Row] = [
    Row(testDescription: "its time is not over", tier: 1, now: hour, hasPassed: false),
    Row(testDescription: "it is a little late", tier: 1, now: 2 * hour, hasPassed: false),
    Row(testDescription: "it is too late", tier: 1, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "a shorter tier", tier: 0, now: hour + 71, hasPassed: true),
    Row(testDescription: "a shorter tier, a little late", tier: 0, now: hour + 60, hasPassed: false),
    Row(testDescription: "no tier is any tier", tier: nil, now: hour + 71, hasPassed: false),
    Row(testDescription: "no tier, too late for all", tier: nil, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "a tier that is not there", tier: 7, now: 2 * hour + 61, hasPassed: true),
    Row(testDescription: "the lane began late", tier: 0, now: 100 * hour, started: 99 * hour, hasPassed: false),
    Row(testDescription: "since when it had time", tier: 0, now: 100 * hour + 1, started: 99 * hour, hasPassed: true),
    Row(testDescription: "its tier is late", tier: 0, now: 9 * hour, nextDue: [10, nil], hasPassed: false),
    Row(testDescription: "its tier is beyond", tier: 0, now: 9 * hour, nextDue: [71, nil], hasPassed: true),
    Row(testDescription: "another tier is late", tier: 0, now: 9 * hour, nextDue: [nil, 10], hasPassed: true),
    Row(testDescription: "any tier is late", tier: nil, now: 9 * hour, nextDue: [nil, 10], hasPassed: false),
  ]

  @Test(arguments: table)
  func `what would have come back by now is not waited for`(row: Row) {
    let passage = TierPassage(
      delays: Self.delays, nextDue: row.nextDue.map { $0.map { .second($0) } }, started: .second(row.started),
      now: .second(row.now))
    #expect(
      passage.hasPassed(Handled(.parked(attempt: 1, tier: row.tier), at: Self.parkedAt)) == row.hasPassed)
    #expect(!passage.hasPassed(Handled(.done(digest: 1), at: Self.parkedAt)))
    #expect(!passage.hasPassed(Handled(.dead, at: Self.parkedAt)))
  }

  /// A lane reads its tier in order, at random moments and into few places; whatever it holds or has not read is waited
  /// for.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a copy that is there is waited for`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let delay = Duration.seconds(Int64.random(in: 1...7_200, using: &random))
    let parked = (0..<40).map { _ in Timestamp.second(Int64.random(in: 0...20_000, using: &random)) }.sorted()
    let started = Timestamp.second(Int64.random(in: 0...20_000, using: &random))
    var heap = DueHeap<Timestamp>(places: 4)
    var unread = parked[...]
    var now = max(started, parked[0])
    while !unread.isEmpty || heap.count > 0 {
      // It reads on before anybody asks: what has not begun to read its tier for an hour does nothing else either.
      while let next = unread.first, next <= now, heap.insert(next, due: next + delay) { unread.removeFirst() }
      let passage = TierPassage(delays: [delay], nextDue: [heap.nextDue], started: started, now: now)
      let there = parked.filter { $0 <= now }.suffix(heap.count + unread.count { $0 <= now })
      for copy in there {
        #expect(!passage.hasPassed(Handled(.parked(attempt: 1, tier: 0), at: copy)), "seed \(seed) at \(now)")
      }
      now = now + .seconds(Int64.random(in: 1...4_000, using: &random))
      if Bool.random(using: &random) { _ = heap.popDue(at: now) }
    }
  }
}
