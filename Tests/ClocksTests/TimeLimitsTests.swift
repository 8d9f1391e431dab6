import Synchronization
import Testing

@testable import Clocks

@Suite struct TimeLimitsTests {
  private struct Failure: Error, Equatable {}

  private func withLimits(
    _ limit: Duration, _ body: (ManualClock, TimeLimits) async throws -> Void
  ) async throws {
    let manual = ManualClock()
    let limits = TimeLimits(limit, on: manual.clock)
    let running = Task { try await limits.run() }
    try await body(manual, limits)
    running.cancel()
    _ = await running.result
  }

  @Test func `Work that is in time gives its result, and leaves no timer behind`() async throws {
    try await withLimits(.seconds(1)) { manual, limits in
      await manual.waitForSleepers()
      for number in 0..<100 {
        let result = try await limits.result { number }
        #expect(result == number)
      }
      #expect(limits.count == 0)
      await #expect(throws: Failure.self) { try await limits.result { () throws -> Int in throw Failure() } }
      #expect(limits.count == 0)
    }
  }

  @Test func `Each piece of work has the whole limit, whenever it began, and work that is deaf is left behind`()
    async throws
  {
    try await withLimits(.seconds(10)) { manual, limits in
      let (never, release) = AsyncStream.makeStream(of: Void.self)
      @Sendable func deaf() async throws -> Int {
        await Task { for await _ in never { break } }.value
        return 7
      }
      let ended = Numbers()
      @Sendable func begin(_ number: Int) -> Task<Void, any Error> {
        Task {
          let result = try await limits.result(of: deaf)
          #expect(result == nil)
          ended.list.withLock { $0.append(number) }
        }
      }
      await manual.waitForSleepers()
      let first = begin(1)
      while limits.count < 1 { await Task.yield() }
      manual.advance(by: .seconds(4))
      let second = begin(2)
      while limits.count < 2 { await Task.yield() }
      // What ended meanwhile does not move the limit of what goes on.
      let third = try await limits.result { 3 }
      #expect(third == 3)
      manual.advance(by: .seconds(6))
      try await first.value
      #expect(ended.list.withLock { $0 } == [1])
      await manual.waitForSleepers()
      manual.advance(by: .seconds(4))
      try await second.value
      #expect(ended.list.withLock { $0 } == [1, 2])
      release.finish()
    }
  }

  @Test func `A caller that is cancelled does not wait`() async throws {
    try await withLimits(.seconds(1)) { _, limits in
      let (never, release) = AsyncStream.makeStream(of: Void.self)
      let result = Task {
        try await limits.result {
          await Task { for await _ in never { break } }.value
          return 7
        }
      }
      while limits.count < 1 { await Task.yield() }
      result.cancel()
      await #expect(throws: CancellationError.self) { try await result.value }
      release.finish()
    }
  }
}

private final class Numbers: Sendable {
  let list = Mutex<[Int]>([])
}
