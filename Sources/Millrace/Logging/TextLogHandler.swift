// Lines for eyes: time of day, severity, message, metadata as name=value.

public import AppStore
public import Logging

/// A swift-log handler that writes readable lines, for terminals.
public struct TextLogHandler: LogHandler {
  /// Severities below are dropped.
  public var logLevel: Logger.Level
  /// Added to every line.
  public var metadata: Logger.Metadata = [:]
  /// Asked at every line.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp

  /// A handler that writes to `sink`; the parameters are those of ``JSONLogHandler``.
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
    let level = event.level.rawValue.uppercased()
    let padding = String(repeating: " ", count: max(0, 8 - level.count))
    // Of `2026-01-31T12:00:00.000Z` the time of day is enough for somebody who watches.
    let time = now().rfc3339.dropFirst(11).dropLast(1)
    var line = "\(time) \(level)\(padding) \(Self.printable(LogMetadata.cut(event.message.description)))"
    if let error = event.error { line += " error=\(Self.printable(LogMetadata.cut("\(error)")))" }
    for (key, value) in LogMetadata.merged(metadata, metadataProvider, event) {
      line += " \(key)=\(Self.printable(LogMetadata.shown("\(value)", key: key)))"
    }
    sink.write(Array((line + "\n").utf8))
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
