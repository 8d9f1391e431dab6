import AppStore
import Testing

@testable import MillraceTime

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

  @Test func `Processes that start at different moments share one simulated time`() {
    let start = MillraceClock.systemTime() - .seconds(100)
    let first = MillraceClock(origin: Self.origin, rate: 60, start: start)
    let between = (first.wallTime, MillraceClock(origin: Self.origin, rate: 60, start: start).wallTime, first.wallTime)
    // 100 real seconds at rate 60 have passed for both.
    #expect(between.0 >= Self.origin + .seconds(6_000))
    // The system clock has millisecond resolution, which is 60 ms of simulated time.
    #expect(between.1 >= between.0 - .milliseconds(60) && between.1 <= between.2 + .milliseconds(60))
  }

  @Test func `A clock at rate 1 without an origin shows the system time`() {
    let before = MillraceClock.systemTime()
    let now = MillraceClock(origin: nil, rate: 1).wallTime
    #expect(now >= before)
    #expect(now - before < .seconds(60))
  }

  @Test func `A clock that differs from the system time is simulated and still knows the real time`() {
    let before = MillraceClock.systemTime()
    let clocks = [
      MillraceClock(origin: Self.origin, rate: 1), MillraceClock(origin: nil, rate: 2),
      MillraceClock(origin: nil, rate: 1, start: before),
    ]
    for clock in clocks {
      #expect(clock.isSimulated)
      #expect(clock.realTime >= before && clock.realTime - before < .seconds(60))
    }
    #expect(!MillraceClock.system.isSimulated && MillraceClock.system.realTime >= before)
    let manual = ManualClock().clock
    #expect(!manual.isSimulated && manual.realTime == manual.wallTime, "a manual clock's time counts as real time")
  }

  @Test func `Monotonic time does not go back`() {
    let clock = MillraceClock(origin: Self.origin, rate: 3)
    let readings = (0..<1_000).map { _ in clock.now }
    #expect(zip(readings, readings.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `A cancelled sleep throws`() async {
    let clock = MillraceClock.system
    let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(3_600)), tolerance: nil) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
