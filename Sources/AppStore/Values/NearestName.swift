// Suggests the nearest known name for an unknown one ("did you mean").

package enum NearestName {
  /// Returns the candidate with the smallest edit distance to `name`, if it is near enough.
  ///
  /// A candidate also counts as near if its last dotted part is `name` or the last part of `name`: `durability` finds
  /// `kafka.durability`. So does a candidate that begins with `name`. Of equally near candidates, the first wins.
  package static func of(_ name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().utf8)
    let wantedLeaf = leaf(name)
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance: Int
      if leaf(candidate) == wantedLeaf {
        distance = candidate.utf8.count == name.utf8.count ? 0 : 1
      } else if wanted.count >= 4, candidate.lowercased().utf8.starts(with: wanted) {
        distance = 1
      } else {
        distance = edits(wanted, Array(candidate.lowercased().utf8))
      }
      if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(2, wanted.count / 4) else { return nil }
    return best.candidate
  }

  private static func leaf(_ name: String) -> String {
    String(name.lowercased().split(separator: ".").last ?? "")
  }

  /// The Levenshtein distance, in bytes.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var previous = Array(0...right.count)
    for (row, a) in left.enumerated() {
      var current = [row + 1]
      current.reserveCapacity(right.count + 1)
      for (column, b) in right.enumerated() {
        current.append(min(previous[column + 1] + 1, current[column] + 1, previous[column] + (a == b ? 0 : 1)))
      }
      previous = current
    }
    return previous[right.count]
  }
}
