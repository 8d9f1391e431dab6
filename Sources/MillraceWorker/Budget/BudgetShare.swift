// A worker's share of Apple's rate limit: lanes owned / lanes. It needs no coordinator.

/// The share of a rate limit that one process may use.
///
/// A lane counts from the moment it runs until its revocation is answered. So the shares of all processes never add up
/// to more than 1, even during a rebalance.
struct BudgetShare: Sendable, Hashable {
  /// The total number of lanes; at least 1.
  let lanes: Int
  /// The lanes that run in this process.
  private(set) var running: Set<Int32> = []

  init(lanes: Int) { self.lanes = max(1, lanes) }

  /// The share, from 0 (no lanes, no calls) to 1.
  var part: Double { min(1, Double(running.count) / Double(lanes)) }

  mutating func add(_ lane: Int32) { running.insert(lane) }
  /// The lane has stopped or was lost.
  mutating func remove(_ lane: Int32) { running.remove(lane) }
}
