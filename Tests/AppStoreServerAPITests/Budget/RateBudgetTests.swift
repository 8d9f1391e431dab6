import AppStoreSigning
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite struct RateBudgetTests {
  typealias Instant = MillraceClock.Instant

  /// The times at which slots are taken. The demand comes at random times, sometimes without a pause, sometimes with
  /// idle periods.
  private func turns(
    _ budget: inout RateBudget, hours: Int, idle: Bool, using generator: inout SeededGenerator
  ) -> [Duration] {
    var now = Instant(elapsed: .zero)
    let end = Instant(elapsed: .seconds(3600 * hours))
    var taken: [Duration] = []
    while now < end {
      if budget.take(at: now) {
        taken.append(now.elapsed)
        continue
      }
      guard let turn = budget.turn(at: now) else { return taken }
      now = max(now.advanced(by: .nanoseconds(1)), turn)
      if idle {
        // Timers fire late, and sometimes there is no demand.
        now = now.advanced(by: .milliseconds(Int64.random(in: 0...20, using: &generator)))
        if Int.random(in: 0..<2_000, using: &generator) == 0 {
          now = now.advanced(by: .seconds(Int64.random(in: 1...4_000, using: &generator)))
        }
      }
    }
    return taken
  }

  /// Limit × share × part, from the fastest endpoint to a mass extension in the sandbox by one lane of twelve.
  private static let rates: [Double] = [
    50, 40, 50 * 0.8 / 12 * 5, 20 * 0.8, 10 * 0.8 / 3, 1.5, 1.1, 1, 0.8, 0.1, 0.1 * 0.8, 0.1 * 0.8 / 12,
  ]

  @Test(arguments: rates, [false, true])
  func `no hour and no second exceeds its limit`(rate: Double, idle: Bool) {
    let seed = UInt64(rate * 1_000) + (idle ? 1 : 0)
    var generator = SeededGenerator(seed: seed)
    var budget = RateBudget(perSecond: rate)
    let taken = turns(&budget, hours: rate > 5 ? 2 : rate > 0.5 ? 6 : 30, idle: idle, using: &generator)
    #expect(Double(taken.most(within: .seconds(3_600))) <= 3600 * rate + 1e-6, "seed \(seed)")
    #expect(Double(taken.most(within: .seconds(1))) <= max(1, (2 * rate).rounded(.up)), "seed \(seed)")
    #expect(taken.most(within: .nanoseconds(1)) <= max(1, Int(rate)), "seed \(seed)")
  }

  @Test(arguments: rates)
  func `constant demand uses at least 95 % of every hour`(rate: Double) {
    var generator = SeededGenerator(seed: 1)
    var budget = RateBudget(perSecond: rate)
    let taken = turns(&budget, hours: 4, idle: false, using: &generator)
    for (hour, used) in taken.byHour(4).enumerated() {
      // The limit counts whole requests: one of 24 in an hour may fall into the next hour.
      #expect(Double(used) >= min(3600 * rate * 0.95, (3600 * rate).rounded(.down) - 1), "hour \(hour)")
    }
  }

  @Test func `a late timer loses no slots`() {
    var budget = RateBudget(perSecond: 0.8)
    var now = Instant(elapsed: .zero)
    var used = 0
    while now.elapsed < .seconds(3600) {
      if budget.take(at: now) { used += 1 }
      guard let turn = budget.turn(at: now) else { break }
      now = turn.advanced(by: .milliseconds(300))
    }
    #expect(Double(used) >= 3600 * 0.8 * 0.99)
  }

  @Test func `unused slots of an idle hour are lost`() {
    var budget = RateBudget(perSecond: 40)
    #expect(count(&budget, at: .zero) == 40)
    #expect(count(&budget, at: .seconds(3600)) == 40)
  }

  @Test func `after a pause slots are spread without a burst`() {
    var budget = RateBudget(perSecond: 40)
    budget.pause(until: Instant(elapsed: .seconds(100)))
    budget.pause(until: Instant(elapsed: .seconds(50)))
    #expect(count(&budget, at: .seconds(99)) == 0)
    #expect(budget.turn(at: Instant(elapsed: .seconds(99))) == Instant(elapsed: .seconds(100)))
    #expect(count(&budget, at: .seconds(100)) == 1)
    #expect(count(&budget, at: .seconds(100) + .milliseconds(26)) == 1)
  }

  @Test func `a new rate applies at once`() {
    var budget = RateBudget(perSecond: 40)
    #expect(count(&budget, at: .zero) == 40)
    budget.setRate(perSecond: 4)
    #expect(count(&budget, at: .seconds(1)) <= 4)
    budget.setRate(perSecond: 0)
    #expect(budget.turn(at: Instant(elapsed: .seconds(10))) == nil)
    #expect(count(&budget, at: .seconds(10)) == 0)
    budget.setRate(perSecond: 1)
    #expect(count(&budget, at: .seconds(20)) == 1)
  }

  @Test(arguments: [0, -1, .nan, .infinity, -.infinity] as [Double])
  func `a rate of zero has no slots`(rate: Double) {
    var budget = RateBudget(perSecond: rate)
    #expect(count(&budget, at: .zero) == 0)
  }

  @Test func `a part that keeps changing never allows more than its largest value`() {
    let seed: UInt64 = 7
    var generator = SeededGenerator(seed: seed)
    var budget = RateBudget(perSecond: 8)
    var taken: [Duration] = []
    var now = Instant(elapsed: .zero)
    while now.elapsed < .seconds(3 * 3600) {
      if Int.random(in: 0..<50, using: &generator) == 0 {
        budget.setRate(perSecond: Double(Int.random(in: 0...12, using: &generator)) / 12 * 8)
      }
      if budget.take(at: now) {
        taken.append(now.elapsed)
      } else {
        now = now.advanced(by: .milliseconds(Int64.random(in: 1...200, using: &generator)))
      }
    }
    #expect(taken.count > 10_000)
    #expect(taken.most(within: .seconds(3_600)) <= 8 * 3600, "seed \(seed)")
  }

  @Test func `the slot behind other callers follows their slots`() {
    var budget = RateBudget(perSecond: 10)
    let now = Instant(elapsed: .zero)
    let foreseen = (0..<50).compactMap { budget.turn(behind: $0, at: now) }
    var met: [Instant] = []
    var moment = now
    while met.count < 50 {
      if budget.take(at: moment) { met.append(moment) } else { moment = budget.turn(at: moment) ?? moment }
    }
    #expect(foreseen == met)
  }

  /// The number of slots at one time.
  private func count(_ budget: inout RateBudget, at moment: Duration) -> Int {
    var count = 0
    while budget.take(at: Instant(elapsed: moment)) { count += 1 }
    return count
  }
}
