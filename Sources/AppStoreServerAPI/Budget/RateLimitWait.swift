// Limits how long a caller waits for a rate-limit slot. Waiting has a cost: a worker's record occupies a place that
// others need. A caller that records an intent needs its slot before it writes.

internal import Synchronization

/// How long a caller waits for a rate-limit slot, and callbacks around the wait.
public struct RateLimitWait: Sendable {
  /// The longest wait; nil for no limit. If the slot is further away, the call fails immediately with a time to retry.
  /// The retry times of rejected callers are spaced at the budget's rate, so that a million of them do not return at
  /// once.
  public var limit: Duration?
  /// Called before a wait begins. If it returns false, the call fails as if the slot were too far away.
  public var begin: @Sendable () async -> Bool
  /// Called when a wait that was begun has ended, with or without a slot.
  public var end: @Sendable () async -> Void
  /// A slot that the caller has already taken.
  var taken: RateLimitSlot?

  /// By default, waits without a limit.
  public init(
    atMost limit: Duration? = nil, begin: @escaping @Sendable () async -> Bool = { true },
    end: @escaping @Sendable () async -> Void = {}
  ) {
    self.limit = limit
    self.begin = begin
    self.end = end
  }
}

/// A slot that was taken before its call. Copies of a client share it, and only one call can use it.
final class RateLimitSlot: Sendable {
  private let key: Mutex<BudgetKey?>

  init(_ key: BudgetKey) { self.key = Mutex(key) }

  /// Uses the slot if it belongs to this budget and is unused. Returns whether it did.
  func use(_ key: BudgetKey) -> Bool {
    self.key.withLock { taken in
      guard taken == key else { return false }
      taken = nil
      return true
    }
  }
}
