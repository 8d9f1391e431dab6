// Says what a run waits for if it does not end.

internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The waits that have no time limit of their own: for the end of a process, or of a task that was cancelled.
package enum OpenWaits {
  private static let waits = Mutex<[UUID: String]>([:])

  /// Waits for something, and names it as long as that takes.
  /// - Parameter name: What the run waits for, as in "waits for …".
  nonisolated(nonsending)
    package static func during<Result>(
      _ name: String, _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result
  {
    let id = UUID()
    waits.withLock { $0[id] = name }
    defer { waits.withLock { _ = $0.removeValue(forKey: id) } }
    return try await body()
  }

  /// The time for the end of a run after its time limit.
  static let grace = Duration.seconds(60)

  /// Ends this process if it is still running some time after its time limit, and says what it waited for.
  /// - Parameter limit: The time limit of the run.
  static func end(after limit: Duration) {
    // Neither a task nor the cooperative pool, which may be what hangs.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int((limit + grace).components.seconds))) {
      let names = waits.withLock { $0.values.sorted() }
      let what = names.isEmpty ? "for no process and no task" : "for \(names.joined(separator: "; for "))"
      FileHandle.standardError.write(
        Data("Error: the run did not end within \(grace) after its time limit; it waits \(what)\n".utf8))
      _exit(70)
    }
  }
}
