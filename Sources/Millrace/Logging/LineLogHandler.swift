// The handler behind every logger of a process; how a line looks is the format's business.

internal import AppStore
internal import Logging

/// What a line says, masked and cut already where that is the metadata's business.
struct LogLine {
  var time: Timestamp
  var level: Logger.Level
  var label: String
  var message: String
  var error: String?
  /// By name.
  var metadata: [(key: String, value: Logger.MetadataValue)]
}

/// A swift-log handler that writes one line for each event.
struct LineLogHandler: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Timestamp
  private let format: @Sendable (LogLine) -> [UInt8]

  /// A handler that writes to `sink` what `format` makes of each event at or above `level`.
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
