// From the configuration to a logger factory.

public import Clocks
public import Logging

extension LogSettings {
  /// The handler that these settings ask for.
  ///
  /// - Parameters:
  ///   - label: The logger's label.
  ///   - clock: Whose wall time lines show.
  ///   - sink: Where lines go.
  ///   - isTerminal: Decides the format when ``format`` is unset.
  public func handler(
    label: String, clock: MillraceClock, sink: LogSink = .standardError, isTerminal: Bool = LogSink.isTerminal
  ) -> any LogHandler {
    let level = Logger.Level(rawValue: level.rawValue) ?? .info
    let now: @Sendable () -> _ = { clock.wallTime }
    let isText = (format ?? (isTerminal ? .text : .json)) == .text
    return LineLogHandler(
      label: label, level: level, sink: sink, now: now, format: isText ? TextLogLine.format : JSONLogLine.format)
  }

  /// A logger as these settings ask for.
  public func logger(label: String, clock: MillraceClock) -> Logger {
    Logger(label: label) { handler(label: $0, clock: clock) }
  }
}
