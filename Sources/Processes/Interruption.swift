// Handles Ctrl-C for a program that runs many child processes.

internal import UnixSignals

/// Runs `work`. The first SIGINT or SIGTERM cancels it, so no child process is left behind.
package func interruptible<Result: Sendable>(
  _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
  return try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      for await _ in signals { throw RunError("interrupted") }
      return nil
    }
    defer { group.cancelAll() }
    while let end = try await group.next() {
      if let end { return end }
    }
    throw RunError("the run produced no result")
  }
}
