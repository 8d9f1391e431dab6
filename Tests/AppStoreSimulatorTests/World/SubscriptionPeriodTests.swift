import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct SubscriptionPeriodTests {
  @Test(arguments: [
    ("P1M", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
    ("P1M", "2024-01-31T10:00:00Z", "2024-02-29T10:00:00Z"),
    ("P1M", "2026-12-15T00:00:00.123Z", "2027-01-15T00:00:00.123Z"),
    ("P6M", "2026-08-31T00:00:00Z", "2027-02-28T00:00:00Z"),
    ("P1Y", "2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z"),
    ("P1W", "2026-02-25T00:00:00Z", "2026-03-04T00:00:00Z"),
    ("P3D", "2026-02-27T00:00:00Z", "2026-03-02T00:00:00Z"),
  ])
  func `a period ends on the calendar day`(text: String, start: String, end: String) throws {
    let period = try #require(SubscriptionPeriod(iso8601: text))
    #expect(period.end(from: try #require(Timestamp(rfc3339: start))) == Timestamp(rfc3339: end))
    #expect(period.description == text)
  }

  @Test(arguments: ["", "P", "M", "P0M", "1M", "P1H", "PT1M", "P-1M", "P1M2D"])
  func `other durations are refused`(text: String) { #expect(SubscriptionPeriod(iso8601: text) == nil) }

  @Test func `the period before a date ends on it, except in short months`() throws {
    let date = try #require(Timestamp(rfc3339: "2026-03-15T00:00:00Z"))
    for text in ["P1D", "P2W", "P1M", "P1Y"] {
      let period = try #require(SubscriptionPeriod(iso8601: text))
      #expect(period.end(from: period.start(before: date)) == date)
    }
  }
}
