import MillraceTime
import Testing

@testable import MillraceWorker

@Suite struct ReplayPaceTests {
  @Test(arguments: [1.0, 7.0, 400.0])
  func `a replay keeps its rate, exceeds it by at most one batch, and saves up no allowance`(rate: Double) {
    let clock = ManualClock()
    var (pace, sent, passed) = (ReplayPace(), 0, 0.0)
    for step in 0..<200 {
      if let due = pace.due(now: clock.clock.now) {
        let wait = clock.clock.now.duration(to: due)
        passed += wait / .seconds(1)
        clock.advance(by: wait)
      }
      let batch = ReplayPace.batch(at: rate, limit: 200)
      #expect(batch >= 1 && batch <= 200 && Double(batch) <= max(1, rate))
      sent += batch
      pace.sent(batch, at: rate, now: clock.clock.now)
      #expect(Double(sent) <= passed * rate + Double(batch) + 0.001, "step \(step)")
    }
    #expect(Double(sent) >= passed * rate)
    clock.advance(by: .seconds(3_600))
    #expect(pace.due(now: clock.clock.now) == nil)
    pace.sent(1, at: rate, now: clock.clock.now)
    #expect(pace.due(now: clock.clock.now) != nil, "an hour's pause must not add to the allowance")
  }

  @Test func `a replay without a rate does not wait`() {
    let clock = ManualClock()
    var pace = ReplayPace()
    pace.sent(1_000, at: nil, now: clock.clock.now)
    #expect(pace.due(now: clock.clock.now) == nil && ReplayPace.batch(at: nil, limit: 200) == 200)
  }
}
