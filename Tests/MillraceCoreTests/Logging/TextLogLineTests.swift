import MillraceTime
import AppStore
import Logging
import Testing

@testable import MillraceCore

@Suite struct TextLogLineTests {
  @Test func `A line is readable and contains no control characters`() {
    let lines = Lines()
    let now = Timestamp(millisecondsSince1970: 1_769_860_800_000)
    let logger = Logger(label: "test") {
      LineLogHandler(label: $0, sink: lines.sink, now: { now }, format: TextLogLine.format)
    }
    logger.warning("two\nlines \u{1B}[2J", metadata: ["password": "hunter2", "a": "1"])
    #expect(lines.all == ["12:00:00.000 WARNING  two lines  [2J a=1 password=********\n"])
  }

  @Test(arguments: [
    (LogSettings.Format?.none, true, false), (.none, false, true), (.json, true, true), (.text, false, false),
  ])
  func `The format follows the terminal unless it is set`(format: LogSettings.Format?, isTerminal: Bool, isJSON: Bool) {
    let lines = Lines()
    var settings = LogSettings()
    settings.format = format
    var handler = settings.handler(label: "l", clock: .system, sink: lines.sink, isTerminal: isTerminal)
    handler.logLevel = .info
    Logger(label: "l") { [handler] _ in handler }.info("m")
    #expect(lines.all.first?.hasPrefix("{") == isJSON)
  }

  @Test(arguments: LogSettings.Level.allCases)
  func `Every level of the configuration is a level of swift-log`(level: LogSettings.Level) {
    #expect(Logger.Level(rawValue: level.rawValue) != nil)
  }
}
