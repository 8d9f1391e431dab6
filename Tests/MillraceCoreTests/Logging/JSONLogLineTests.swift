import AppStore
import Logging
import Testing

@testable import MillraceCore

@Suite struct JSONLogLineTests {
  private static let now = Timestamp(millisecondsSince1970: 1_769_860_800_000)

  private static func logger(_ lines: Lines, level: Logger.Level = .info) -> Logger {
    Logger(label: "test") {
      LineLogHandler(label: $0, level: level, sink: lines.sink, now: { now }, format: JSONLogLine.format)
    }
  }

  @Test func `A line is a JSON object with time, level, label, message and metadata sorted by name`() {
    let lines = Lines()
    Self.logger(lines).info("started", metadata: ["b": "2", "a": "1"])
    #expect(
      lines.all == [
        #"{"ts":"2026-01-31T12:00:00.000Z","level":"info","label":"test","message":"started","a":"1","b":"2"}"# + "\n"
      ])
  }

  @Test func `Messages below the level are dropped`() {
    let lines = Lines()
    Self.logger(lines, level: .warning).info("quiet")
    #expect(lines.all.isEmpty)
  }

  @Test func `Nested metadata stays nested`() throws {
    let lines = Lines()
    Self.logger(lines).info("m", metadata: ["list": ["a", "b"], "map": ["y": "2", "x": ["1"]]])
    let line = try JSONObject(parsing: Array(try #require(lines.all.first).utf8.dropLast()))
    #expect(line["list"] == ["a", "b"])
    #expect(line["map"] == ["x": ["1"], "y": "2"])
  }

  @Test(arguments: ["quote \" backslash \\", "two\nlines\r\n", "bell \u{7} escape \u{1B}[31m delete \u{7F}", "😀 é"])
  func `Every text is written on one line and parses to the same text`(text: String) throws {
    let lines = Lines()
    Self.logger(lines).info("\(text)", metadata: ["key \(text)": "\(text)"])
    let line = try #require(lines.all.first)
    #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    #expect(!line.utf8.dropLast().contains { $0 < 0x20 || $0 == 0x7F })
    let object = try JSONObject(parsing: Array(line.utf8.dropLast()))
    #expect(object["message"] == .string(text))
    #expect(object["key \(text)"] == .string(text))
  }

  @Test(arguments: ["password", "sharedSecret", "Authorization", "signedPayload", "privateKeyFile"])
  func `Values with secret names are masked, including nested ones`(key: String) {
    let lines = Lines()
    Self.logger(lines).info("m", metadata: [key: "hunter2", "outer": [key: ["hunter2"]]])
    #expect(!lines.all.joined().contains("hunter2"))
    #expect(lines.all.joined().contains("********"))
  }

  @Test func `Texts as long as a payload are truncated`() throws {
    let lines = Lines()
    let payload = String(repeating: "é", count: 9_000)
    Self.logger(lines).info("\(payload)", metadata: ["body": "\(payload)"])
    let line = try #require(lines.all.first)
    #expect(line.utf8.count < 3_000)
    #expect(line.contains("(18000 bytes)"))
  }

  @Test func `Event metadata overrides the provider's, which overrides the logger's`() {
    let lines = Lines()
    let provider = Logger.MetadataProvider { ["a": "provider", "b": "provider"] }
    var logger = Logger(label: "test") {
      LineLogHandler(
        label: $0, sink: lines.sink, now: { Self.now }, metadataProvider: provider, format: JSONLogLine.format)
    }
    logger[metadataKey: "a"] = "logger"
    logger[metadataKey: "c"] = "logger"
    logger.info("m", metadata: ["b": "event"])
    #expect(lines.all.first?.hasSuffix(#""a":"provider","b":"event","c":"logger"}"# + "\n") == true)
  }
}
