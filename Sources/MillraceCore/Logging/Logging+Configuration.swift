package import MillraceTime
package import Logging

extension LogSettings {
  /// Returns a log handler with these settings.
  ///
  /// - Parameters:
  ///   - clock: The clock whose wall time the lines show.
  ///   - sink: The destination of the lines.
  ///   - isTerminal: Determines the format if ``format`` is unset.
  package func handler(
    label: String, clock: MillraceClock, sink: LogSink = .standardError, isTerminal: Bool = LogSink.isTerminal
  ) -> any LogHandler {
    let level = Logger.Level(rawValue: level.rawValue) ?? .info
    let now: @Sendable () -> _ = { clock.wallTime }
    let isText = (format ?? (isTerminal ? .text : .json)) == .text
    return LineLogHandler(
      label: label, level: level, sink: sink, now: now, format: isText ? TextLogLine.format : JSONLogLine.format)
  }

  /// Returns a logger with these settings.
  package func logger(label: String, clock: MillraceClock) -> Logger {
    Logger(label: label) { handler(label: $0, clock: clock) }
  }
}
