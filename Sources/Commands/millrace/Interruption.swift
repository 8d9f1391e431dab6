// Handles Ctrl-C and SIGTERM: the first signal asks the command to finish, the second ends the process.

import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Turns signals into cancellation.
enum Interruption {
  /// Runs `work`; the first SIGINT or SIGTERM cancels it, the second ends the process.
  static func cancelling<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let task = Task { try await work() }
    let watch = Task {
      var isFirst = true
      for await _ in signals {
        guard isFirst else { exit(130) }
        isFirst = false
        task.cancel()
      }
    }
    defer { watch.cancel() }
    return try await task.value
  }
}
