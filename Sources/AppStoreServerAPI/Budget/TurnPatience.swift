// Waiting costs whoever waits: a worker's record keeps its place from others meanwhile. And who writes down what it is
// about to do has to know its turn before it writes.

internal import Synchronization

/// How long a caller waits for its turn, and who has a say in it.
public struct TurnPatience: Sendable {
  /// The longest wait; nil: as long as it takes. A turn that is further away is refused at once, with a time to come back
  /// at. Those who are sent away get times as far apart as turns are: a million of them must not come back together.
  public var limit: Duration?
  /// Asked before a wait begins; false refuses the turn as one that is too far away.
  public var begin: @Sendable () async -> Bool
  /// Told once a wait that was begun is over, with a turn or without one.
  public var end: @Sendable () async -> Void
  /// A turn that the caller has already.
  var taken: TakenTurn?

  /// As long as it takes, unless told otherwise.
  public init(
    atMost limit: Duration? = nil, begin: @escaping @Sendable () async -> Bool = { true },
    end: @escaping @Sendable () async -> Void = {}
  ) {
    self.limit = limit
    self.begin = begin
    self.end = end
  }
}

/// A turn that was taken before its call. Copies of a client share it, and one call has it.
final class TakenTurn: Sendable {
  private let key: Mutex<BudgetKey?>

  init(_ key: BudgetKey) { self.key = Mutex(key) }

  /// Whether there is a turn at that budget; there is none afterwards.
  func use(_ key: BudgetKey) -> Bool {
    self.key.withLock { taken in
      guard taken == key else { return false }
      taken = nil
      return true
    }
  }
}
