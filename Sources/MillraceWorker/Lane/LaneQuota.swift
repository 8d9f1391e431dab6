// Limits how many records of each kind of topic a lane holds, so that a backlog of one kind does not block the others.

/// Counts the records in a lane by kind of source. New records may take three quarters of the places, and so may
/// delayed ones that are due. Replayed records may take one quarter.
struct LaneQuota: Sendable, Hashable {
  private enum Kind: Int, Sendable { case live, due, replay }

  private let most: Int
  private let fewest: Int
  private var taken = [0, 0, 0]

  /// - Parameter records: The number of places in the lane.
  init(records: Int) {
    fewest = max(1, records / 4)
    most = max(1, records - records / 4)
  }

  /// Whether the lane may admit another record of this kind.
  func hasRoom(for source: LaneSource) -> Bool {
    let kind = kind(of: source)
    return taken[kind.rawValue] < (kind == .replay ? fewest : most)
  }

  /// Counts a record that was admitted.
  mutating func take(_ source: LaneSource) { taken[kind(of: source).rawValue] += 1 }

  /// Frees the place of a record that has left.
  mutating func free(_ source: LaneSource) { taken[kind(of: source).rawValue] -= 1 }

  private func kind(of source: LaneSource) -> Kind {
    switch source {
    case .live: .live
    case .retry: .due
    case .replay: .replay
    }
  }
}
