// Waits in tests for something that another task does.

/// Returns when a condition holds. Other tasks run meanwhile.
/// - Throws: ``EndlessWait`` after five minutes, so that one test fails and not the whole run; `CancellationError` if the
///   test is cancelled first.
package nonisolated(nonsending) func waitUntil(
  _ condition: @autoclosure () async throws -> Bool, file: String = #fileID, line: Int = #line
) async throws {
  let end = ContinuousClock.now + .seconds(300)
  while try await !condition() {
    try Task.checkCancellation()
    guard ContinuousClock.now < end else { throw EndlessWait(place: "\(file):\(line)") }
    await Task.yield()
  }
}

/// A condition that did not come to hold.
package struct EndlessWait: Error, CustomStringConvertible {
  let place: String
  package var description: String { "the condition at \(place) did not hold within five minutes" }
}
