// Limits the log lines about events that repeat. In an outage every post is refused for the same reason, and every
// record of a worker is delayed for the same one.

package import Logging
package import MillraceTime
internal import ServiceLifecycle
internal import Synchronization

/// Decides which events get a line: the first of a reason at once, later ones together after an interval. A value: time
/// is a parameter.
package struct RepeatedLines: Sendable {
  /// A line about one or several events.
  package struct Line: Sendable, Equatable {
    package var level: Logger.Level
    package var message: Logger.Message
    /// The details of the last event.
    package var metadata: Logger.Metadata
    /// The events since the previous line of this reason.
    package var count = 1

    package init(level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata) {
      (self.level, self.message, self.metadata) = (level, message, metadata)
    }
  }

  private struct Series: Sendable {
    var loggedAt: Duration
    /// The events since then; nil if there are none.
    var waiting: Line?
  }

  /// The least time between two lines of a reason.
  private let interval: Duration
  private var series: [String: Series] = [:]

  package init(interval: Duration) { self.interval = interval }

  /// Returns the line if it is due now.
  /// - Parameter reason: A value of a closed set, so that the memory is bounded.
  package mutating func add(_ line: Line, reason: String, at now: Duration) -> Line? {
    guard let last = series[reason] else {
      series[reason] = Series(loggedAt: now)
      return line
    }
    var line = line
    line.count += last.waiting?.count ?? 0
    series[reason]?.waiting = line
    return now - last.loggedAt < interval ? nil : flush(reason, at: now)
  }

  /// Returns the lines of events that no later event has reported, ordered by reason.
  /// - Parameter all: Whether to return lines that are not due, too.
  package mutating func due(at now: Duration, all: Bool = false) -> [Line] {
    var lines: [Line] = []
    for (reason, last) in series.sorted(by: { $0.key < $1.key }) where all || now - last.loggedAt >= interval {
      if let line = flush(reason, at: now) { lines.append(line) } else { series[reason] = nil }
    }
    return lines
  }

  private mutating func flush(_ reason: String, at now: Duration) -> Line? {
    guard let line = series[reason]?.waiting else { return nil }
    series[reason] = Series(loggedAt: now)
    return line
  }
}

/// Logs events that repeat, shared by all tasks that report them.
package final class RepeatedLog: Service {
  private let logger: Logger
  private let clock: MillraceClock
  private let interval: Duration
  private let counted: String
  private let lines: Mutex<RepeatedLines>

  /// - Parameters:
  ///   - interval: The least time between two lines of a reason.
  ///   - counted: The name of the number of events in a line.
  package init(_ logger: Logger, clock: MillraceClock, interval: Duration, counting counted: String) {
    (self.logger, self.clock, self.interval, self.counted) = (logger, clock, interval, counted)
    lines = Mutex(RepeatedLines(interval: interval))
  }

  /// Logs an event, or counts it for a later line.
  package func add(_ level: Logger.Level, _ message: Logger.Message, reason: String, _ metadata: Logger.Metadata) {
    let now = clock.now.elapsed
    let line = lines.withLock {
      $0.add(.init(level: level, message: message, metadata: metadata), reason: reason, at: now)
    }
    if let line { log(line) }
  }

  /// Reports the events that no later event reports, until the process shuts down.
  package func run() async {
    await cancelWhenGracefulShutdown {
      do {
        while true {
          try await self.clock.sleep(until: self.clock.now.advanced(by: self.interval))
          self.flush()
        }
      } catch {
        // The clock throws only if the task is cancelled.
      }
    }
    flush(all: true)
  }

  /// Reports the counted events of each reason whose line is due.
  /// - Parameter all: Whether to report every reason.
  package func flush(all: Bool = false) {
    let now = clock.now.elapsed
    for line in lines.withLock({ $0.due(at: now, all: all) }) { log(line) }
  }

  private func log(_ line: RepeatedLines.Line) {
    logger.log(level: line.level, line.message, metadata: line.metadata.merging([counted: "\(line.count)"]) { $1 })
  }
}
