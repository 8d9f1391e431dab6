// Pacific time, in which version 1 repeats its dates. Formatting a date with Foundation's time zones takes too long on
// Linux, and the rule of the United States has been the same since 2007.

import AppStore

enum PacificTime {
  /// The date as in `purchase_date_pst`, such as `2020-04-20 21:11:57 America/Los_Angeles`.
  static func text(_ date: Timestamp) -> String {
    let local = date - .seconds(isDaylightSaving(date) ? 7 * 3_600 : 8 * 3_600)
    return local.rfc3339.prefix(19).split(separator: "T").joined(separator: " ") + " America/Los_Angeles"
  }

  /// Daylight saving time lasts from the second Sunday in March to the first Sunday in November, 2 o'clock local time.
  private static func isDaylightSaving(_ date: Timestamp) -> Bool {
    let day = Timestamp.floorDivision(date.millisecondsSince1970, 86_400_000).quotient
    let year = Timestamp.civil(fromDay: day).year
    let begins = Timestamp(millisecondsSince1970: (sunday(onOrAfter: 8, 3, year) * 24 + 10) * 3_600_000)
    let ends = Timestamp(millisecondsSince1970: (sunday(onOrAfter: 1, 11, year) * 24 + 9) * 3_600_000)
    return begins <= date && date < ends
  }

  /// The first Sunday on or after a date, in days since 1970.
  private static func sunday(onOrAfter day: Int64, _ month: Int64, _ year: Int64) -> Int64 {
    let date = Timestamp.daysSinceEpoch(year, month, day)
    // 1 January 1970 was a Thursday.
    return date + Timestamp.floorDivision(-(date + 4), 7).remainder
  }
}
