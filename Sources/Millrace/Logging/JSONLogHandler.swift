// One JSON object a line: `ts`, `level`, `label`, `message`, then metadata. Payloads and secrets stay out by construction:
// long values are cut and values of secret names are masked, whoever logs them.

public import AppStore
public import Logging

/// A swift-log handler that writes JSON lines.
public struct JSONLogHandler: LogHandler {
  /// Severities below are dropped.
  public var logLevel: Logger.Level
  /// Added to every line.
  public var metadata: Logger.Metadata = [:]
  /// Asked at every line.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp

  /// A handler that writes to `sink`.
  ///
  /// - Parameters:
  ///   - label: The logger's label.
  ///   - level: Severities below are dropped.
  ///   - sink: Where lines go.
  ///   - now: The time of a line.
  public init(
    label: String, level: Logger.Level = .info, sink: LogSink, now: @escaping @Sendable () -> Timestamp,
    metadataProvider: Logger.MetadataProvider? = nil
  ) {
    self.label = label
    self.logLevel = level
    self.sink = sink
    self.now = now
    self.metadataProvider = metadataProvider
  }

  /// One key of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line.
  public func log(event: LogEvent) {
    var line = LogLine()
    line.begin()
    line.member("ts", now().rfc3339)
    line.member("level", event.level.rawValue)
    line.member("label", label)
    line.member("message", event.message.description)
    if let error = event.error { line.member("error", "\(error)") }
    for (key, value) in LogMetadata.merged(metadata, metadataProvider, event) { line.member(key, value) }
    line.end()
    sink.write(line.bytes)
  }
}

/// Builds one line of JSON as bytes.
private struct LogLine {
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
