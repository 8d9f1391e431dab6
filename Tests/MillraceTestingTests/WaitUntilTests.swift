import TestEnvironment
import Testing

@Suite(.timeLimit(.minutes(1))) struct WaitUntilTests {
  @Test func `the wait ends when the condition holds`() async throws {
    var count = 0
    func isThird() -> Bool {
      count += 1
      return count == 3
    }
    try await waitUntil(isThird())
    #expect(count == 3)
  }

  @Test func `a condition that holds is enough, even if the test is cancelled`() async throws {
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await waitUntil(true)
    }
    try await waiting.value
  }

  @Test func `the wait for a condition that never holds ends when the test is cancelled`() async {
    let waiting = Task { try await waitUntil(false) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
