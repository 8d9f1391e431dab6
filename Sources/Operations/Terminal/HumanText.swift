// Sizes, counts, prices and durations for people.

/// Formats quantities for people.
package enum HumanText {
  /// A size in bytes: `812 B`, `17.1 KiB`, `2.0 MiB`.
  package static func size(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var tenths = bytes * 10 / 1024
    var unit = "KiB"
    for next in ["MiB", "GiB"] where tenths >= 10_240 {
      tenths /= 1024
      unit = next
    }
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// A count with its noun: `1 topic`, `10 topics`, `2 bodies`.
  package static func count(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  /// A price in thousandths of a currency, as Apple states it: `9.99 USD`, `0.125 KWD`.
  package static func price(thousandths: Int64, currency: String?) -> String {
    let magnitude = thousandths.magnitude
    var fraction = String(magnitude % 1000)
    fraction = String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    if fraction.hasSuffix("0") { fraction.removeLast() }
    let amount = "\(thousandths < 0 ? "-" : "")\(magnitude / 1000).\(fraction)"
    return currency.map { "\(amount) \($0)" } ?? amount
  }

  /// A duration, rounded up: `90 s`, `12 min`, `30 h`.
  static func roundedUp(_ time: Duration) -> String {
    let seconds = time.components.seconds + (time.components.attoseconds > 0 ? 1 : 0)
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7_200: return "\((seconds + 59) / 60) min"
    default: return "\((seconds + 3_599) / 3_600) h"
    }
  }
}
