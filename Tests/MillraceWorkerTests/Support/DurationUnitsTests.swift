import Testing

@testable import MillraceWorker

@Suite struct DurationUnitsTests {
  @Test func `Whole milliseconds saturate at the ends of the range`() {
    #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).wholeMilliseconds == .max)
    #expect(Duration(secondsComponent: .min, attosecondsComponent: 0).wholeMilliseconds == .min)
    #expect(Duration.milliseconds(-1_500).wholeMilliseconds == -1_500)
  }
}
