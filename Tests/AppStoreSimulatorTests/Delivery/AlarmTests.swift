import AppStore
import MillraceTime
import Testing

@testable import AppStoreSimulator

@Suite(.timeLimit(.minutes(15))) struct AlarmTests {
  /// A clock that wakes sleepers a millisecond early, as a timer does if the wall clock lags behind it.
  private static func hasty(_ time: ManualClock) -> MillraceClock {
    let clock = time.clock
    return MillraceClock(
      wallTime: { clock.wallTime }, elapsed: { clock.now.elapsed },
      sleepUntil: { deadline in
        let early = max(deadline - .milliseconds(1), clock.now.elapsed + .microseconds(1))
        try await clock.sleep(until: MillraceClock.Instant(elapsed: early))
      })
  }

  @Test func `a due event happens even if a sleeper wakes a moment early`() async {
    let time = ManualClock()
    let due = time.clock.wallTime + .seconds(10)
    let (worked, continuation) = AsyncStream<Timestamp>.makeStream()
    let running = Task {
      let (news, _) = AsyncStream<Void>.makeStream()
      try await Alarm(clock: Self.hasty(time)).run(news: news) { _, _ in
        let now = time.clock.wallTime
        continuation.yield(now)
        return now < due ? due : nil
      }
    }
    var rounds = worked.makeAsyncIterator()
    let first = await rounds.next()
    #expect(first == due - .seconds(10))
    await time.waitForSleepers(1)
    time.advance(by: .milliseconds(9_999))
    await time.waitForSleepers(1)
    time.advance(by: .milliseconds(1))
    let second = await rounds.next()
    #expect(second == due)
    running.cancel()
    _ = await running.result
  }
}
