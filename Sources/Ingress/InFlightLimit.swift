// How many notifications are verified and written at one time. What bounds memory is ``BodyBudget``.

internal import Synchronization

/// Counts requests between the end of their body and their answer, and refuses beyond a number.
final class InFlightLimit: Sendable {
  private let limit: Int
  private let count = Atomic<Int>(0)

  init(_ limit: Int) { self.limit = limit }

  var current: Int { count.load(ordering: .relaxed) }

  /// Runs `body` in a place of its own; nil where there is none.
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
