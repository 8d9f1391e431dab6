// Moments as Apple writes them: milliseconds since 1970 in UTC.

/// A moment in UNIX time with the precision of Apple's payloads, one millisecond.
///
/// In JSON it is an integer. Xcode's local signing writes fractions of a millisecond (`1697679936711.0747`); these are
/// cut off, not rounded.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
  public var millisecondsSince1970: Int64

  /// The moment that many milliseconds after the start of 1970, UTC.
  public init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// The moment of a count with a fraction, cut to the whole millisecond towards zero; nil when it does not fit.
  init?(fractionalMilliseconds: Double) {
    guard let whole = Int64(exactly: fractionalMilliseconds.rounded(.towardZero)) else { return nil }
    self.init(millisecondsSince1970: whole)
  }

  /// Earlier before later.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.millisecondsSince1970 < right.millisecondsSince1970
  }

  /// The moment that much later, cut to whole milliseconds; stays at the end of the range instead of overflowing.
  public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
    let (sum, overflow) = moment.millisecondsSince1970.addingReportingOverflow(milliseconds(of: duration))
    guard overflow else { return Timestamp(millisecondsSince1970: sum) }
    return Timestamp(millisecondsSince1970: duration < .zero ? .min : .max)
  }

  /// The moment that much earlier, cut to whole milliseconds; stays at the end of the range instead of overflowing.
  public static func - (moment: Timestamp, duration: Duration) -> Timestamp {
    let (difference, overflow) = moment.millisecondsSince1970.subtractingReportingOverflow(milliseconds(of: duration))
    guard overflow else { return Timestamp(millisecondsSince1970: difference) }
    return Timestamp(millisecondsSince1970: duration < .zero ? .max : .min)
  }

  /// The time from `right` to `left`; negative when `left` is the earlier one.
  public static func - (left: Timestamp, right: Timestamp) -> Duration {
    .milliseconds(left.millisecondsSince1970) - .milliseconds(right.millisecondsSince1970)
  }

  private static func milliseconds(of duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, overflowA) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, overflowB) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard !overflowA, !overflowB else { return seconds < 0 ? .min : .max }
    return sum
  }
}

extension Timestamp: Codable {
  /// Reads a number of milliseconds; a fraction is cut off.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let moment = Timestamp(jsonValue: try container.decode(JSON.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number of milliseconds since 1970")
    }
    self = moment
  }

  /// Writes the number of milliseconds.
  public func encode(to encoder: any Encoder) throws {
    try millisecondsSince1970.encode(to: encoder)
  }
}
