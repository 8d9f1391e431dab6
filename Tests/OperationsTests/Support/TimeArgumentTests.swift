// Tests the grammar of times. CommandLineTests checks that every command has it.

import AppStore
import Testing

@testable import Operations

@Suite struct TimeArgumentTests {
  /// 2026-01-01T00:00:00Z
  private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  static let valid = ["90m", "7d", "500ms", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00.5+01:00"]
  static let invalid = [
    "", "d", "-1d", "7", "1w", "1.5h", "yesterday", "2026-13-01", "2026-02-30", "2026-1-1", "2026-01-01T00:00:00",
    "99999999999999d",
  ]

  @Test(arguments: [
    ("90m", -90 * 60_000), ("7d", -7 * 86_400_000), ("0s", 0), ("2026-01-01", 0), ("2026-01-02", 86_400_000),
    ("2026-01-01T00:00:00Z", 0), ("2026-01-01T01:00:00.5+01:00", 500),
  ])
  func `an age counts back, a day begins at midnight in UTC, and a time has a zone`(
    text: String, milliseconds: Int64
  ) throws {
    let time = try #require(TimeArgument(text))
    #expect(time.time(at: Self.now) == Self.now + .milliseconds(milliseconds))
    #expect("\(time)" == text)
  }

  @Test(arguments: invalid) func `other text is no time`(text: String) {
    #expect(TimeArgument(text) == nil && StartArgument(text) == nil)
  }

  @Test func `a wait is a duration, or lasts until a time`() {
    #expect(TimeArgument("90s")?.wait(from: Self.now) == .seconds(90))
    #expect(TimeArgument("2026-01-02")?.wait(from: Self.now) == .seconds(86_400))
    #expect(TimeArgument("2025-12-31")?.wait(from: Self.now) == .seconds(-86_400))
    #expect("\(TimeArgument(age: .seconds(300)))" == "5m")
  }

  @Test func `a start is a time, the oldest or now`() {
    #expect(StartArgument("earliest") == .earliest && StartArgument("earliest")?.time(at: Self.now) == nil)
    #expect(StartArgument("latest")?.time(at: Self.now) == Self.now)
    #expect(StartArgument("1d")?.time(at: Self.now) == Self.now - .seconds(86_400))
    #expect(StartArgument("Latest") == nil)
  }
}
