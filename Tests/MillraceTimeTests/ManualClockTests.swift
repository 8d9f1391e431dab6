import AppStore
import Synchronization
import Testing

@testable import MillraceTime

@Suite struct ManualClockTests {
  private final class Woken: Sendable {
    private let seconds = Mutex<[Int]>([])
    var all: [Int] { seconds.withLock { $0 } }
    func add(_ second: Int) { seconds.withLock { $0.append(second) } }
  }

  @Test func `Sleepers wake at their deadline and not before`() async throws {
    let manual = ManualClock()
    let clock = manual.clock
    let woken = Woken()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for second in [3, 1, 2] {
        group.addTask {
          try await clock.sleep(until: .init(elapsed: .seconds(second)), tolerance: nil)
          woken.add(second)
        }
      }
      await manual.waitForSleepers(3)
      #expect(manual.nextDeadline == .seconds(1))
      manual.advance(by: .milliseconds(999))
      #expect(woken.all.isEmpty)
      manual.advance(by: .milliseconds(1))
      try await group.next()
      #expect(woken.all == [1])
      manual.advance(by: .seconds(10))
      try await group.waitForAll()
      #expect(manual.nextDeadline == nil)
    }
    #expect(Set(woken.all) == [1, 2, 3])
  }

  @Test func `A sleep until a past deadline returns at once`() async throws {
    let manual = ManualClock()
    manual.advance(by: .seconds(5))
    try await manual.clock.sleep(until: .init(elapsed: .seconds(5)), tolerance: nil)
  }

  @Test func `A cancelled sleep throws`() async {
    let manual = ManualClock()
    let sleeper = Task { try await manual.clock.sleep(until: .init(elapsed: .seconds(1)), tolerance: nil) }
    await manual.waitForSleepers()
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test func `Wall time advances with the clock`() {
    let manual = ManualClock()
    let begin = manual.clock.wallTime
    manual.advance(by: .seconds(90))
    #expect(manual.clock.wallTime - begin == .seconds(90))
  }
}
