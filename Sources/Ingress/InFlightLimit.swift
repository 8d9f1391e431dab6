// Limits the number of notifications that are verified and written at a time. ``BodyBudget`` bounds memory.

internal import Synchronization

/// Counts requests from the end of their body to the response, up to a limit.
final class InFlightLimit: Sendable {
  private let limit: Int
  private let count = Atomic<Int>(0)

  init(_ limit: Int) { self.limit = limit }

  var current: Int { count.load(ordering: .relaxed) }

  /// Runs `body` if the count is below the limit; returns nil otherwise.
  func withPlace<Value>(
    _ body: () async throws -> Value
  ) async rethrows -> Value? {
    guard count.add(1, ordering: .relaxed).newValue <= limit else {
      count.subtract(1, ordering: .relaxed)
      return nil
    }
    defer { count.subtract(1, ordering: .relaxed) }
    return try await body()
  }
}
