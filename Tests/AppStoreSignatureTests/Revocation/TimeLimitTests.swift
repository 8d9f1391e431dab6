// Tests a time limit without real time: the test decides when it ends.
@testable import AppStoreSignature
import Testing

@Suite("Time limit")
struct TimeLimitTests {
  @Test("work that finishes in time returns its result, and the timer is cancelled")
  func inTime() async {
    let value = await withTimeLimit(.seconds(1)) { _ in
      await untilCancelled()
    } operation: {
      42
    }
    #expect(value == 42)
  }

  @Test("work that ignores its cancellation is abandoned")
  func leftBehind() async {
    let (release, gate) = AsyncStream<Void>.makeStream()
    let value: Int? = await withTimeLimit(.seconds(1)) { _ in
    } operation: {
      // A detached task is not affected by this task's cancellation.
      await Task.detached {
        for await _ in release { return 1 }; return 2
      }.value
    }
    #expect(value == nil)
    gate.finish()
  }
}
