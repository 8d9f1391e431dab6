// Times as text, for CloudEvents' `time` and for people.

extension Timestamp: CustomStringConvertible {
  /// The time in UTC with milliseconds, such as `2026-01-01T00:00:00.000Z` (RFC 3339).
  ///
  /// RFC 3339 covers the years 0000 to 9999. A time outside this range is written as its first or last millisecond.
  public var rfc3339: String {
    let clamped = min(max(millisecondsSince1970, Self.firstMillisecond), Self.lastMillisecond)
    let (day, millisecondOfDay) = Self.floorDivision(clamped, 86_400_000)
    let (year, month, dayOfMonth) = Self.civil(fromDay: day)
    let second = millisecondOfDay / 1000
    return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(dayOfMonth, 2) + "T"
      + Self.padded(second / 3600, 2) + ":" + Self.padded(second / 60 % 60, 2) + ":" + Self.padded(second % 60, 2) + "."
      + Self.padded(millisecondOfDay % 1000, 3) + "Z"
  }

  /// The same as ``rfc3339``.
  public var description: String { rfc3339 }

  /// 0000-01-01T00:00:00.000Z.
  private static let firstMillisecond: Int64 = -62_167_219_200_000
  /// 9999-12-31T23:59:59.999Z.
  private static let lastMillisecond: Int64 = 253_402_300_799_999

  /// Returns the year, month and day for a number of days since 1970 in the proleptic Gregorian calendar. Years begin
  /// in March, so that the leap day is the last day of the year. The calendar repeats after eras of 400 years.
  package static func civil(fromDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floorDivision(day + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  package static func floorDivision(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
