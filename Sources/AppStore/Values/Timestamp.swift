// Times in Apple's form: milliseconds since 1970 in UTC.

/// A UNIX time with the precision of Apple's payloads, one millisecond.
///
/// In JSON it is an integer. Xcode's local signing writes fractions of a millisecond (`1697679936711.0747`), which are
/// truncated.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// The milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public var millisecondsSince1970: Int64

  /// Creates a time from the milliseconds since the start of 1970, UTC.
  public init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// Creates a time from a number with a fraction, truncated to the whole millisecond; nil if it is out of range.
  init?(fractionalMilliseconds: Double) {
    guard let whole = Int64(exactly: fractionalMilliseconds.rounded(.towardZero)) else { return nil }
    self.init(millisecondsSince1970: whole)
  }

  /// Whether the left time is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.millisecondsSince1970 < right.millisecondsSince1970
  }

  /// Returns the later time, in whole milliseconds; clamped to the range instead of overflowing.
  public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
    let (sum, overflow) = moment.millisecondsSince1970.addingReportingOverflow(milliseconds(of: duration))
    guard overflow else { return Timestamp(millisecondsSince1970: sum) }
    return Timestamp(millisecondsSince1970: duration < .zero ? .min : .max)
  }

  /// Returns the earlier time, in whole milliseconds; clamped to the range instead of overflowing.
  public static func - (moment: Timestamp, duration: Duration) -> Timestamp {
    let (difference, overflow) = moment.millisecondsSince1970.subtractingReportingOverflow(milliseconds(of: duration))
    guard overflow else { return Timestamp(millisecondsSince1970: difference) }
    return Timestamp(millisecondsSince1970: duration < .zero ? .max : .min)
  }

  /// The duration from `right` to `left`; negative if `left` is earlier.
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
  /// Decodes a number of milliseconds; a fraction is truncated.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let moment = Timestamp(jsonValue: try container.decode(JSON.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number of milliseconds since 1970")
    }
    self = moment
  }

  /// Encodes the number of milliseconds.
  public func encode(to encoder: any Encoder) throws {
    try millisecondsSince1970.encode(to: encoder)
  }
}
