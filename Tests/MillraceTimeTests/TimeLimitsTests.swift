import Synchronization
import TestEnvironment
import Testing

@testable import MillraceTime

@Suite(.timeLimit(.minutes(15))) struct TimeLimitsTests {
  private func withLimits(
    _ limit: Duration, _ body: (ManualClock, TimeLimits) async throws -> Void
  ) async throws {
    let manual = ManualClock()
    let limits = TimeLimits(limit, on: manual.clock)
    let running = Task { try await limits.run() }
    defer { running.cancel() }
    await manual.waitForSleepers()
    try await body(manual, limits)
    running.cancel()
    _ = await running.result
  }

  @Test func `work that ends in time is not reported and uses no memory`() async throws {
    try await withLimits(.seconds(1)) { manual, limits in
      let told = Numbers()
      for number in 0..<100 {
        let work = limits.begin(UInt64(number)) { told.add(Int($0)) }
        limits.end(work)
      }
      #expect(limits.count == 0)
      manual.advance(by: .seconds(2))
      await manual.waitForSleepers()
      #expect(told.all == [])
    }
  }

  @Test func `each piece of work gets the full limit and is reported once`() async throws {
    try await withLimits(.seconds(10)) { manual, limits in
      let told = Numbers()
      _ = limits.begin(1) { told.add(Int($0)) }
      manual.advance(by: .seconds(4))
      _ = limits.begin(2) { told.add(Int($0)) }
      // Work that ends in the meantime does not change the limits of running work.
      limits.end(limits.begin(3) { told.add(Int($0)) })
      manual.advance(by: .seconds(6))
      try await waitUntil(told.all == [1])
      await manual.waitForSleepers()
      manual.advance(by: .seconds(4))
      try await waitUntil(told.all == [1, 2])
      #expect(limits.count == 0)
    }
  }
}

private final class Numbers: Sendable {
  private let list = Mutex<[Int]>([])

  func add(_ number: Int) { list.withLock { $0.append(number) } }
  var all: [Int] { list.withLock { $0 } }
}
