// A chart of 24 hours as an SVG in the page, with its figures as text.

internal import MillraceTime

/// A chart of one figure of one worker.
struct HistoryChart: Sendable {
  /// Unique on the page.
  let id: String
  /// The name of the figure, and the worker.
  let title: String
  /// One value for each interval, the newest last. Nil is a gap.
  let values: [Int64?]

  private static let height = 40
  /// The distance of the line from both edges.
  private static let margin = 2

  /// The newest value; nil if it is unknown.
  var present: Int64? { values.last ?? nil }
  var most: Int64? { values.compactMap(\.self).max() }
  var least: Int64? { values.compactMap(\.self).min() }

  /// The figures for readers that do not see the chart.
  var words: String {
    guard let least else { return "no samples in the last 24 hours" }
    let missing = values.count { $0 == nil }
    let gaps = missing == 0 ? "" : "; \(Words.count(missing)) of \(Words.count(values.count)) samples are missing"
    return "\(summary), lowest \(Words.count(least))\(gaps)"
  }

  /// The figures beside the chart.
  var summary: String {
    guard let most else { return "no samples yet" }
    return "last \(present.map { Words.count($0) } ?? "unknown"), highest \(Words.count(most))"
  }

  /// Steps from value to value. A gap interrupts the line.
  var path: String {
    // Values can be as large as an offset.
    let scale = Double(Self.height - 2 * Self.margin) / Double(max(1, most ?? 1))
    var path = ""
    var last: Int?
    for (x, value) in values.enumerated() {
      guard let value else {
        last = nil
        continue
      }
      let y = Self.height - Self.margin - Int((Double(value) * scale).rounded())
      if last == nil { path += "M\(x) \(y)" } else if last != y { path += "V\(y)" }
      last = y
      // The line ends at the next change.
      let next = x + 1 < values.count ? values[x + 1] : nil
      if next != value { path += "H\(x + 1)" }
    }
    return path
  }

  var html: HTML {
    """
    <svg class="history" viewBox="0 0 \(values.count) \(Self.height)" preserveAspectRatio="none" role="img" aria-labelledby="\(id)-title \(id)-words"><title id="\(id)-title">\(title)</title><desc id="\(id)-words">\(words)</desc><path class="base" d="M0 \(Self.height - Self.margin)H\(values.count)"/><path d="\(path)"/></svg>
    """
  }
}
