import Testing

@testable import Clocks

@Suite struct TimeLimitTests {
  private struct Failure: Error, Equatable {}

  @Test func `Work that is in time gives its result`() async throws {
    let manual = ManualClock()
    #expect(try await manual.clock.result(within: .seconds(1)) { 7 } == 7)
  }

  @Test func `Work that fails throws its error`() async {
    let manual = ManualClock()
    await #expect(throws: Failure.self) {
      try await manual.clock.result(within: .seconds(1)) { () throws -> Int in throw Failure() }
    }
  }

  @Test func `Work that ignores cancellation is not waited for`() async throws {
    let manual = ManualClock()
    let (never, release) = AsyncStream.makeStream(of: Void.self)
    let result = Task {
      try await manual.clock.result(within: .seconds(1)) {
        // Deaf to cancellation: an unstructured task is not cancelled with the one that waits for it.
        await Task { for await _ in never { break } }.value
        return 7
      }
    }
    await manual.waitForSleepers()
    manual.advance(by: .seconds(1))
    #expect(try await result.value == nil)
    release.finish()
  }

  @Test func `A caller that is cancelled does not wait`() async {
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
