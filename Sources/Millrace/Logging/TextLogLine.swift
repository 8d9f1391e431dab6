// Lines for eyes: time of day, severity, message, metadata as name=value.

internal import AppStore
internal import Logging

/// Lines for people at a terminal.
enum TextLogLine {
  static func format(_ line: LogLine) -> [UInt8] {
    let level = line.level.rawValue.uppercased()
    let padding = String(repeating: " ", count: max(0, 8 - level.count))
    // Of `2026-01-31T12:00:00.000Z` the time of day is enough for somebody who watches.
    let time = line.time.rfc3339.dropFirst(11).dropLast(1)
    var text = "\(time) \(level)\(padding) \(printable(LogMetadata.cut(line.message)))"
    if let error = line.error { text += " error=\(printable(LogMetadata.cut(error)))" }
    for (key, value) in line.metadata {
      text += " \(key)=\(printable(LogMetadata.shown("\(value)", key: key)))"
    }
    return Array((text + "\n").utf8)
  }

  /// Without what would move a terminal's cursor.
  private static func printable(_ text: String) -> String {
    var printable = ""
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      printable.unicodeScalars.append(isControl ? " " : scalar)
    }
    return printable
  }
}
