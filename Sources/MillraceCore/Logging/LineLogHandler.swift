internal import AppStore
internal import Logging

/// The content of a log line. The formats mask and truncate it.
struct LogLine {
  var time: Timestamp
  var level: Logger.Level
  var label: String
  var message: String
  var error: String?
  /// The metadata, sorted by name.
  var metadata: [(key: String, value: Logger.MetadataValue)]
}

/// A swift-log handler that writes one line per event.
struct LineLogHandler: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp
  private let format: @Sendable (LogLine) -> [UInt8]

  /// Creates a handler that formats each event at or above `level` with `format` and writes it to `sink`.
  init(
    label: String, level: Logger.Level = .info, sink: LogSink, now: @escaping @Sendable () -> Timestamp,
    metadataProvider: Logger.MetadataProvider? = nil, format: @escaping @Sendable (LogLine) -> [UInt8]
  ) {
    self.label = label
    self.logLevel = level
    self.sink = sink
    self.now = now
    self.metadataProvider = metadataProvider
    self.format = format
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let line = LogLine(
      time: now(), level: event.level, label: label, message: event.message.description,
      error: event.error.map { "\($0)" }, metadata: LogMetadata.merged(metadata, metadataProvider, event))
    sink.write(format(line))
  }
}
