// Who may have how many of a lane's places: a backlog on one kind of topic must not keep the others out.

/// Counts the places of a lane by kind of source. New records and those whose wait is over leave each other a quarter;
/// what is sent again has a quarter at most.
struct LanePlaces: Sendable, Hashable {
  private enum Kind: Int, Sendable { case live, due, replay }

  private let most: Int
  private let fewest: Int
  private var taken = [0, 0, 0]

  /// - Parameter records: All places of the lane.
  init(records: Int = 1) {
    fewest = max(1, records / 4)
    most = max(1, records - records / 4)
  }

  /// Whether one more record of this kind may come in.
  func hasRoom(for source: LaneSource) -> Bool {
    let kind = kind(of: source)
    return taken[kind.rawValue] < (kind == .replay ? fewest : most)
  }

  /// A record came in.
  mutating func take(_ source: LaneSource) { taken[kind(of: source).rawValue] += 1 }

  /// A record left.
  mutating func free(_ source: LaneSource) { taken[kind(of: source).rawValue] -= 1 }

  private func kind(of source: LaneSource) -> Kind {
    switch source {
    case .live: .live
    case .retry: .due
    case .replay: .replay
    }
  }
}
