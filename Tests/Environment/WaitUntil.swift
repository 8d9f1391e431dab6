// Waits in tests for something that another task does.

/// Returns when a condition holds. Other tasks run meanwhile.
/// - Throws: `CancellationError` if the test is cancelled first, for example by its time limit.
package nonisolated(nonsending) func waitUntil(
  _ condition: @autoclosure () async throws -> Bool
) async throws {
  while try await !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
