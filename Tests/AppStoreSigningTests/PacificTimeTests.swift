import AppStore
import Foundation
import Testing

@testable import AppStoreSigning

@Suite struct PacificTimeTests {
  @Test func `a date reads as in Apple's own rows`() {
    // From a body of the sandbox of 2020.
    let dates: [(Int64, String)] = [
      (1_587_442_317_000, "2020-04-20 21:11:57 America/Los_Angeles"),
      (1_587_420_715_000, "2020-04-20 15:11:55 America/Los_Angeles"),
    ]
    for (milliseconds, text) in dates {
      #expect(PacificTime.text(Timestamp(millisecondsSince1970: milliseconds)) == text)
    }
  }

  @Test func `every hour around a change of the clock is as in the time zone's data`() throws {
    let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = zone
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    var changes = 0
    var moment = Date(timeIntervalSince1970: 1_170_000_000)
    let end = Date(timeIntervalSince1970: 2_100_000_000)
    while let change = zone.nextDaylightSavingTimeTransition(after: moment), change < end {
      for second in [-7_200.0, -1, 0, 1, 7_200] {
        let date = change.addingTimeInterval(second)
        let stamp = Timestamp(millisecondsSince1970: Int64(date.timeIntervalSince1970) * 1_000)
        #expect(PacificTime.text(stamp) == formatter.string(from: date) + " America/Los_Angeles")
      }
      changes += 1
      moment = change
    }
    #expect(changes > 50)
  }
}
