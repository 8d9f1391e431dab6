// Formats times and numbers for pages.

internal import AppStore
internal import MillraceTime

/// Formatting of durations, times, names and counts.
enum Words {
  /// `12 s`, `4 min`, `3 h`, `5 d`: one unit, rounded down.
  static func span(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    return switch seconds {
    case ..<1: "< 1 s"
    case ..<120: "\(seconds) s"
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) d"
    }
  }

  /// `2026-11-21 16:03:07`, UTC.
  static func moment(_ time: Timestamp) -> String {
    String(time.rfc3339.prefix(19)).replacing("T", with: " ")
  }

  /// A time relative to `now`, such as `4 min ago` or `in 3 h`, with the exact time in its attributes.
  static func relative(_ time: Timestamp, now: Timestamp) -> HTML {
    let distance = now - time
    let words = distance >= .zero ? "\(span(distance)) ago" : "in \(span(.zero - distance))"
    return "<time datetime=\"\(time.rfc3339)\" title=\"\(moment(time)) UTC\">\(words)</time>"
  }

  static func exact(_ time: Timestamp) -> HTML {
    "<time datetime=\"\(time.rfc3339)\">\(moment(time))</time>"
  }

  /// A name such as `OFFER_REDEEMED/UPGRADE` that may wrap after its separators.
  static func breakable(_ name: String) -> HTML {
    var html = HTML()
    for part in name.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "_" || $0 == "/" }) {
      html += "\(String(part))"
      guard part.endIndex < name.endIndex else { break }
      html += name[part.endIndex] == "_" ? "_<wbr>" : "/<wbr>"
    }
    return html
  }

  /// `1 234 567` with thin spaces.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "\u{202F}" }
      text.append(digit)
    }
    return (number < 0 ? "\u{2212}" : "") + text
  }

  /// A rate per minute: `0`, `0.4`, `12`, `1 234`.
  static func perMinute(_ count: Int, minutes: Int) -> String {
    let tenths = count * 10 / max(1, minutes)
    if tenths == 0 { return count == 0 ? "0" : "< 0.1" }
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : Self.count(tenths / 10)
  }
}
