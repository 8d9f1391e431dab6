// Subscription periods as App Store Connect offers them, counted by calendar: a month that begins on 31 January ends on
// the last day of February.

package import AppStore

/// The length of a subscription period or offer.
package struct SubscriptionPeriod: Sendable, Hashable, CustomStringConvertible {
  /// The calendar units of ISO 8601 durations.
  package enum Unit: Character, Sendable, Hashable {
    case day = "D"
    case week = "W"
    case month = "M"
    case year = "Y"
  }

  /// The number of units; at least 1.
  package let count: Int64
  /// The unit.
  package let unit: Unit

  /// A period of `count` units; at least one.
  package init(_ count: Int64, _ unit: Unit) {
    self.count = max(1, count)
    self.unit = unit
  }

  /// Parses an ISO 8601 duration with one unit, such as `P1M`, `P7D` or `P1Y`. Returns nil for any other text.
  package init?(iso8601 text: String) {
    guard text.first == "P", let last = text.last, let unit = Unit(rawValue: last),
      let count = Int64(text.dropFirst().dropLast()), (1...1_000).contains(count)
    else { return nil }
    self.init(count, unit)
  }

  /// The ISO 8601 duration.
  package var description: String { "P\(count)\(unit.rawValue)" }

  /// Returns the time one period after `start`.
  package func end(from start: Timestamp) -> Timestamp {
    switch unit {
    case .day: start + .seconds(86_400 * count)
    case .week: start + .seconds(7 * 86_400 * count)
    case .month: start.adding(months: count)
    case .year: start.adding(months: 12 * count)
    }
  }

  /// Returns the time one period before `end`. Because months differ in length, ``end(from:)`` of the result can differ
  /// from `end`.
  package func start(before end: Timestamp) -> Timestamp {
    switch unit {
    case .day: end - .seconds(86_400 * count)
    case .week: end - .seconds(7 * 86_400 * count)
    case .month: end.adding(months: -count)
    case .year: end.adding(months: -12 * count)
    }
  }
}

extension Timestamp {
  /// Returns the same day and time `months` months later, or the last day of that month.
  func adding(months: Int64) -> Timestamp {
    let (day, millisecond) = Self.floorDivision(millisecondsSince1970, 86_400_000)
    let date = Self.civil(fromDay: day)
    let (year, monthFromZero) = Self.floorDivision(date.year * 12 + date.month - 1 + months, 12)
    let month = monthFromZero + 1
    let target = Self.daysSinceEpoch(year, month, min(date.day, Self.days(in: month, of: year)))
    return Timestamp(millisecondsSince1970: target * 86_400_000 + millisecond)
  }
}
