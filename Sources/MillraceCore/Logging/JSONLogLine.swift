// One JSON object per line: `ts`, `level`, `label`, `message`, then metadata. Long values are truncated and values with
// secret names are masked, so the log contains no payloads and no secrets.

internal import AppStore
internal import Logging

/// The JSON format of log lines.
enum JSONLogLine {
  static func format(_ line: LogLine) -> [UInt8] {
    var builder = JSONLineBuilder()
    builder.begin()
    builder.member("ts", line.time.rfc3339)
    builder.member("level", line.level.rawValue)
    builder.member("label", line.label)
    builder.member("message", line.message)
    if let error = line.error { builder.member("error", error) }
    for (key, value) in line.metadata { builder.member(key, value) }
    builder.end()
    return builder.bytes
  }
}

private struct JSONLineBuilder {
  var bytes: [UInt8] = []
  private var isFirst = true

  mutating func begin() {
    bytes.reserveCapacity(256)
    bytes.append(UInt8(ascii: "{"))
  }

  mutating func end() {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
  }

  mutating func member(_ key: String, _ value: String) {
    name(key)
    text(LogMetadata.cut(value))
  }

  mutating func member(_ key: String, _ value: Logger.MetadataValue) {
    name(key)
    self.value(value, key: key)
  }

  private mutating func name(_ key: String) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    text(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func value(_ value: Logger.MetadataValue, key: String) {
    switch value {
    case .string(let string): text(LogMetadata.shown(string, key: key))
    case .stringConvertible(let convertible): text(LogMetadata.shown(convertible.description, key: key))
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        self.value(element, key: key)
      }
      bytes.append(UInt8(ascii: "]"))
    case .dictionary(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        text(member.key)
        bytes.append(UInt8(ascii: ":"))
        self.value(member.value, key: member.key)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private mutating func text(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F: bytes.append(contentsOf: "\\u00\(Hex.text([byte]))".utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
