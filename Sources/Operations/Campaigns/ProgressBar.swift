// A text progress bar of several parts. A part above zero has at least one character, and the bar is full only when
// everything is done.

struct ProgressBar: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    var count: Int64
    var symbol: Character
    var style: TextStyle
  }

  var parts: [Part]
  var total: Int64

  /// The number of characters of each part, followed by the rest.
  func widths(of width: Int) -> [Int] {
    let counts = parts.map { max(0, $0.count) }
    let total = max(self.total, counts.reduce(0, +), 1)
    let rest = total - counts.reduce(0, +)
    var widths = (counts + [rest]).map { count in
      count == 0 ? 0 : max(1, Int(Double(count) / Double(total) * Double(width)))
    }
    // The widest part absorbs the rounding error.
    while let widest = widths.indices.max(by: { widths[$0] < widths[$1] }) {
      let missing = width - widths.reduce(0, +)
      guard missing != 0, widths[widest] + missing >= 1 else { break }
      widths[widest] += missing
    }
    return widths
  }

  func text(width: Int, usesColor: Bool) -> String {
    let widths = widths(of: width)
    let bars = zip(parts, widths).map { part, width in
      part.style.applied(to: String(repeating: part.symbol, count: width), usesColor: usesColor)
    }
    return bars.joined() + String(repeating: "░", count: widths.last ?? 0)
  }
}
