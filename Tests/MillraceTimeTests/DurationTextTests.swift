import Testing

@testable import MillraceTime

@Suite struct DurationTextTests {
  @Test(arguments: [
    ("500ms", Duration.milliseconds(500)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("1h", .seconds(3_600)),
    ("8d", .seconds(691_200)), ("0s", .zero), ("007s", .seconds(7)),
  ])
  func `A whole number with a unit is a duration`(text: String, expected: Duration) {
    #expect(DurationText.parse(text) == expected)
  }

  @Test(arguments: ["", "10", "s", "10 s", "-1s", "1.5s", "10S", "10sec", "9223372036854775807d", "٣s", "1h30m"])
  func `Any other text is not a duration`(text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test(arguments: ["0s", "1ms", "1500ms", "10s", "90s", "5m", "36h", "8d"])
  func `A formatted duration parses to the same duration`(text: String) throws {
    let duration = try #require(DurationText.parse(text))
    #expect(DurationText.parse(DurationText.text(duration)) == duration)
  }

  @Test func `A formatted duration uses the largest exact unit`() {
    #expect(DurationText.text(.seconds(7_200)) == "2h")
    #expect(DurationText.text(.seconds(90)) == "90s")
    #expect(DurationText.text(.microseconds(1_500)) == "1ms")
  }
}
