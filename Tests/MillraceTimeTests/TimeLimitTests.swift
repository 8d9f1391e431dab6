import Testing

@testable import MillraceTime

@Suite struct TimeLimitTests {
  private struct Failure: Error, Equatable {}

  @Test func `Work that finishes in time returns its result`() async throws {
    let manual = ManualClock()
    #expect(try await manual.clock.result(within: .seconds(1)) { 7 } == 7)
  }

  @Test func `Work that fails throws its error`() async {
    let manual = ManualClock()
    await #expect(throws: Failure.self) {
      try await manual.clock.result(within: .seconds(1)) { () throws -> Int in throw Failure() }
    }
  }

  @Test func `The call returns at the limit even if the work ignores cancellation`() async throws {
    let manual = ManualClock()
    let (never, release) = AsyncStream.makeStream(of: Void.self)
    let result = Task {
      try await manual.clock.result(within: .seconds(1)) {
        // Ignores cancellation: an unstructured task is not cancelled with the task that awaits it.
        await Task { for await _ in never { break } }.value
        return 7
      }
    }
    await manual.waitForSleepers()
    manual.advance(by: .seconds(1))
    #expect(try await result.value == nil)
    release.finish()
  }

  @Test func `A cancelled caller stops waiting`() async {
    let manual = ManualClock()
    let (never, release) = AsyncStream.makeStream(of: Void.self)
    let result = Task {
      try await manual.clock.result(within: .seconds(1)) {
        await Task { for await _ in never { break } }.value
        return 7
      }
    }
    await manual.waitForSleepers()
    result.cancel()
    await #expect(throws: CancellationError.self) { try await result.value }
    release.finish()
  }
}
