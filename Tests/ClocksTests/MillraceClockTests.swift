import AppStore
import Testing

@testable import Clocks

@Suite struct MillraceClockTests {
  private static let origin = Timestamp(millisecondsSince1970: 1_000_000_000_000)

  @Test func `Compressed time starts at its origin and passes at its rate`() async throws {
    let clock = MillraceClock(origin: Self.origin, rate: 1_000_000)
    let real = ContinuousClock.now
    let begin = clock.wallTime
    #expect(begin >= Self.origin)
    // Ten thousand seconds are ten real milliseconds.
    try await clock.sleep(until: clock.now.advanced(by: .seconds(10_000)), tolerance: nil)
    #expect(clock.wallTime - begin >= .seconds(10_000))
    #expect(ContinuousClock.now - real < .seconds(1_000))
  }

  @Test func `Two processes that start at different moments live in one time`() {
    let start = MillraceClock.systemTime() - .seconds(100)
    let first = MillraceClock(origin: Self.origin, rate: 60, start: start)
    let between = (first.wallTime, MillraceClock(origin: Self.origin, rate: 60, start: start).wallTime, first.wallTime)
    // A hundred seconds at rate 60 have passed for both.
    #expect(between.0 >= Self.origin + .seconds(6_000))
    // The system's clock is read to the millisecond, which is sixty of these.
    #expect(between.1 >= between.0 - .milliseconds(60) && between.1 <= between.2 + .milliseconds(60))
  }

  @Test func `Real time is the system's`() {
    let before = MillraceClock.systemTime()
    let now = MillraceClock(origin: nil, rate: 1).wallTime
    #expect(now >= before)
    #expect(now - before < .seconds(60))
  }

  @Test func `Monotonic time does not go back`() {
    let clock = MillraceClock(origin: Self.origin, rate: 3)
    let readings = (0..<1_000).map { _ in clock.now }
    #expect(zip(readings, readings.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `A sleep that is cancelled throws`() async {
    let clock = MillraceClock.system
    let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(3_600)), tolerance: nil) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
