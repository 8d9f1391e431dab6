// Runs a scenario beside its observers and services, and cleans up after it.

internal import UnixSignals

/// Runs `work`. The first SIGINT or SIGTERM cancels it, so no child process is left behind.
package func interruptible<Result: Sendable>(
  _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
  return try await run(work) { for await _ in signals { throw RunError("interrupted") } }
}

/// Runs `work` while `companions` run. Cancels the others when `work` returns, or when one of them throws.
/// - Parameter file: The file that runs them, for the question what a run waits for.
package func run<Result: Sendable>(
  in file: String = #fileID,
  _ work: @escaping @Sendable () async throws -> Result, beside companions: (@Sendable () async throws -> Void)...
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await work() }
    for companion in companions {
      group.addTask {
        try await companion()
        return nil
      }
    }
    defer { group.cancelAll() }
    while let end = try await group.next() {
      guard let end else { continue }
      group.cancelAll()
      // What the others throw once they are cancelled is of no interest.
      await OpenWaits.during("a cancelled task in \(file)") { while await group.nextResult() != nil {} }
      return end
    }
    throw RunError("the run produced no result")
  }
}

/// Runs `work`, then `cleanUp`, also if `work` throws.
package func run<Result: Sendable>(
  _ work: @Sendable () async throws -> Result, thenAlways cleanUp: @Sendable () async -> Void
) async throws -> Result {
  do {
    let result = try await work()
    await cleanUp()
    return result
  } catch {
    await cleanUp()
    throw error
  }
}
