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
