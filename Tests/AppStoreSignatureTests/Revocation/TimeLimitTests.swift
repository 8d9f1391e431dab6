// A time limit without real time: the test says when it is over.
@testable import AppStoreSignature
import Testing

@Suite("Time limit")
struct TimeLimitTests {
  @Test("what finishes in time is returned, and the timer is cancelled")
  func inTime() async {
    let value = await withTimeLimit(.seconds(1)) { _ in
      await untilCancelled()
    } operation: {
      42
    }
    #expect(value == 42)
  }

  @Test("work that ignores its cancellation is left behind")
  func leftBehind() async {
    let (release, gate) = AsyncStream<Void>.makeStream()
    let value: Int? = await withTimeLimit(.seconds(1)) { _ in
    } operation: {
      // A detached task does not notice that this one was cancelled.
      await Task.detached {
        for await _ in release { return 1 }; return 2
      }.value
    }
    #expect(value == nil)
    gate.finish()
  }
}
