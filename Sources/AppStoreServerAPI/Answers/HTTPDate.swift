// Parses HTTP dates: the current format and the two obsolete ones that RFC 9110 requires recipients to accept.

internal import AppStore

/// The date in an HTTP header field (RFC 9110, section 5.6.7).
enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. Returns
  /// nil for anything else. The day of the week is not checked.
  ///
  /// - Parameter now: Determines the century of a two-digit year, which is at most 50 years in the future.
  static func parse(_ text: String, now: Timestamp) -> Timestamp? {
    let words = text.lowercased().split { $0 == " " || $0 == "-" || $0 == "," }.map(String.init)
    switch words.count {
    case 6 where words.last == "gmt":
      return moment(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
    case 5:
      return moment(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
    default:
      return nil
    }
  }

  private static func moment(day: String, month: String, year: String, time: String, now: Timestamp) -> Timestamp? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2...2) }
    guard
      let day = number(day[...], 1...2), let month = months.firstIndex(of: month),
      let year = number(year[...], 4...4) ?? number(year[...], 2...2).map({ century($0, now) }),
      clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
    return Timestamp(millisecondsSince1970: (days * 86_400 + hour * 3600 + minute * 60 + second) * 1000)
  }

  private static func number(_ text: Substring, _ digits: ClosedRange<Int>) -> Int64? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }

  private static func century(_ year: Int64, _ now: Timestamp) -> Int64 {
    let present = 1970 + now.millisecondsSince1970 / 31_556_952_000
    let guess = present / 100 * 100 + year
    return guess > present + 50 ? guess - 100 : guess
  }

  /// Counts the days of the proleptic Gregorian calendar. Years begin in March, so that the leap day is the last day of
  /// a year.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let era = marchYear / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
