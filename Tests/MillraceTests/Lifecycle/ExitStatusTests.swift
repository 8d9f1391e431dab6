import Testing

@testable import Millrace

@Suite struct ExitStatusTests {
  private struct Other: Error {}

  @Test(
    arguments: [
      (MillraceError.Area.configuration, 78), (.topics, 78), (.unavailable, 69), (.record, 70), (.lifecycle, 70),
    ] as [(MillraceError.Area, Int32)])
  func `An error's area decides the status`(area: MillraceError.Area, status: Int32) {
    #expect(Millrace.ExitStatus(MillraceError(area, "w", remedy: "r")).rawValue == status)
  }

  @Test func `Any other error is the process's own`() {
    #expect(Millrace.ExitStatus(Other()) == .software)
  }
}
