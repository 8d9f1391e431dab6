// Durations in a readable form: `500ms`, `10s`, `5m`, `1h`, `8d`.

package enum DurationText {
  private static let units: [(suffix: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  /// Parses a whole number and a unit (`ms`, `s`, `m`, `h`, `d`). Returns `nil` for any other text.
  package static func parse(_ text: String) -> Duration? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let count = Int64(digits),
      let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
    else { return nil }
    let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
    return overflow ? nil : .milliseconds(milliseconds)
  }

  /// Returns the shortest exact text of a duration, rounded down to milliseconds.
  package static func text(_ duration: Duration) -> String {
    let milliseconds = Int64(clamping: duration.attoseconds / 1_000_000_000_000_000)
    guard milliseconds != 0 else { return "0s" }
    let unit = units.first { milliseconds.isMultiple(of: $0.milliseconds) }
    return "\(milliseconds / (unit?.milliseconds ?? 1))\(unit?.suffix ?? "ms")"
  }
}
