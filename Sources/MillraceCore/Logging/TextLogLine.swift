internal import AppStore
internal import Logging

/// The text format of log lines, for people at a terminal: time of day, severity, message, metadata as name=value.
enum TextLogLine {
  static func format(_ line: LogLine) -> [UInt8] {
    let level = line.level.rawValue.uppercased()
    let padding = String(repeating: " ", count: max(0, 8 - level.count))
    // The time of day from `2026-01-31T12:00:00.000Z`.
    let time = line.time.rfc3339.dropFirst(11).dropLast(1)
    var text = "\(time) \(level)\(padding) \(printable(LogMetadata.cut(line.message)))"
    if let error = line.error { text += " error=\(printable(LogMetadata.cut(error)))" }
    for (key, value) in line.metadata {
      text += " \(key)=\(printable(LogMetadata.shown("\(value)", key: key)))"
    }
    return Array((text + "\n").utf8)
  }

  /// Replaces control characters, which could move a terminal's cursor, with spaces.
  private static func printable(_ text: String) -> String {
    var printable = ""
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      printable.unicodeScalars.append(isControl ? " " : scalar)
    }
    return printable
  }
}
