// A worker's part of Apple's budget, without a coordinator: lanes owned / lanes.

/// The part of a budget that one process may use.
///
/// A lane counts from the moment it runs until its revocation is answered, so that the parts of all processes never add
/// up to more than the whole, rebalances included.
struct BudgetShare: Sendable, Hashable {
  /// Lanes there are; at least 1.
  let lanes: Int
  /// Lanes that run here.
  private(set) var running: Set<Int32> = []

  init(lanes: Int) { self.lanes = max(1, lanes) }

  /// From 0 (no lane, no call) to 1.
  var part: Double { min(1, Double(running.count) / Double(lanes)) }

  /// A lane runs.
  mutating func add(_ lane: Int32) { running.insert(lane) }
  /// A lane stopped or was lost.
  mutating func remove(_ lane: Int32) { running.remove(lane) }
}
