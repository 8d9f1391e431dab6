// Limits the log lines about refusals. In an outage every post is refused for the same reason.

internal import Logging
internal import MillraceTime
internal import ServiceLifecycle
internal import Synchronization

/// Decides which refusals get a line: the first of a reason at once, later ones together every ten seconds. A value: time
/// is a parameter.
struct RefusalLines: Sendable {
  /// The least time between two lines of a reason.
  static let interval = Duration.seconds(10)

  /// A line about one or several refusals.
  struct Line: Sendable, Equatable {
    var level: Logger.Level
    var message: Logger.Message
    /// The details of the last refusal.
    var metadata: Logger.Metadata
    /// The refusals since the previous line of this reason.
    var count = 1
  }

  private struct Series: Sendable {
    var loggedAt: Duration
    /// The refusals since then; nil if there are none.
    var waiting: Line?
  }

  private var series: [String: Series] = [:]

  /// Returns the line if it is due now.
  /// - Parameter reason: A value of a closed set, so that the memory is bounded.
  mutating func add(_ line: Line, reason: String, at now: Duration) -> Line? {
    guard let last = series[reason] else {
      series[reason] = Series(loggedAt: now)
      return line
    }
    var line = line
    line.count += last.waiting?.count ?? 0
    series[reason]?.waiting = line
    return now - last.loggedAt < Self.interval ? nil : flush(reason, at: now)
  }

  /// Returns the lines of refusals that no later refusal has reported, ordered by reason.
  /// - Parameter all: Whether to return lines that are not due, too.
  mutating func due(at now: Duration, all: Bool = false) -> [Line] {
    var lines: [Line] = []
    for (reason, last) in series.sorted(by: { $0.key < $1.key })
    where all || now - last.loggedAt >= Self.interval {
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

/// Logs refusals, shared by all requests.
final class RefusalLog: Service {
  private let logger: Logger
  private let clock: MillraceClock
  private let lines = Mutex(RefusalLines())

  init(_ logger: Logger, clock: MillraceClock) { (self.logger, self.clock) = (logger, clock) }

  func add(_ level: Logger.Level, _ message: Logger.Message, reason: String, _ metadata: Logger.Metadata) {
    let now = clock.now.elapsed
    let line = lines.withLock {
      $0.add(.init(level: level, message: message, metadata: metadata), reason: reason, at: now)
    }
    if let line { log(line) }
  }

  /// Reports the refusals that no later refusal reports, until the process shuts down.
  func run() async {
    await cancelWhenGracefulShutdown {
      do {
        while true {
          try await self.clock.sleep(until: self.clock.now.advanced(by: RefusalLines.interval))
          self.flush(all: false)
        }
      } catch {
        // The clock throws only if the task is cancelled.
      }
    }
    flush(all: true)
  }

  private func flush(all: Bool) {
    let now = clock.now.elapsed
    for line in lines.withLock({ $0.due(at: now, all: all) }) { log(line) }
  }

  private func log(_ line: RefusalLines.Line) {
    logger.log(
      level: line.level, line.message, metadata: line.metadata.merging(["refusals": "\(line.count)"]) { $1 })
  }
}
