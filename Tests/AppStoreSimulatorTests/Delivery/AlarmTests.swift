import AppStore
import Clocks
import Synchronization
import Testing

@testable import AppStoreSimulator

/// A clock that counts who sleeps on it.
private final class Dormitory: Sendable {
  private let time: ManualClock
  private let sleepers = Mutex((now: 0, most: 0))

  init(_ time: ManualClock) { self.time = time }

  var most: Int { sleepers.withLock { $0.most } }

  var clock: MillraceClock {
    let inner = time.clock
    let begin = inner.now
    return MillraceClock(
      wallTime: { inner.wallTime }, elapsed: { begin.duration(to: inner.now) },
      sleepUntil: { deadline in
        self.sleepers.withLock {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        defer { self.sleepers.withLock { $0.now -= 1 } }
        try await inner.sleep(until: begin.advanced(by: deadline))
      })
  }
}

/// How often something was done.
private final class Calls: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  /// Counts one more and gives its number, from 1.
  func next() -> Int {
    number.withLock { number in
      number += 1
      return number
    }
  }
}

@Suite struct AlarmTests {
  @Test(.timeLimit(.minutes(5)))
  func `However often something near comes before something far, at most two sleepers wait`() async throws {
    let time = ManualClock(start: .newYear)
    let dormitory = Dormitory(time)
    let (news, continuation) = AsyncStream<Void>.makeStream()
    let calls = Calls()
    let far = Timestamp.newYear + .seconds(10 * 86_400)
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await Alarm(clock: dormitory.clock).run(news: news) { _, _ in
          // Something far at first, something near on every news, and again the far one when that is done.
          let call = calls.next()
          return call % 2 == 0 ? time.clock.wallTime + .seconds(1) : far
        }
      }
      for round in 0..<50 {
        while calls.count < 2 * round + 1 { await Task.yield() }
        continuation.yield()
        await time.waitForSleepers(2)
        time.advance(by: .seconds(1))
      }
      while calls.count < 101 { await Task.yield() }
      group.cancelAll()
      while let result = await group.nextResult() {
        if case .failure(let error) = result, !(error is CancellationError) { throw error }
      }
    }
    #expect(dormitory.most == 2)
  }
}
