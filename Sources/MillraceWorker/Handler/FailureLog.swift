// The log lines about records and timers that a worker retries or gives up.

internal import Logging
internal import MillraceCore
internal import MillraceTime

/// Logs failures: one line for each dead letter, and one in a minute for the retries of each reason.
struct FailureLog: Sendable {
  /// A failed run.
  struct Failure {
    /// The notification or timer, its type and its key.
    var subject: Logger.Metadata
    /// The number of runs so far.
    var attempt: Int
    var reason: String
    var detail: String
    var answer: CallAnswer?
  }

  private let logger: Logger
  private let retries: RepeatedLog

  /// The least time between two lines about retries for one reason.
  static let interval = Duration.seconds(60)

  init(worker: String, _ logger: Logger, clock: MillraceClock) {
    var logger = logger
    logger[metadataKey: "worker"] = "\(worker)"
    self.logger = logger
    retries = RepeatedLog(logger, clock: clock, interval: Self.interval, counting: "retries")
  }

  func died(_ failure: Failure) {
    let what = failure.subject["timer"] == nil ? "record" : "timer"
    logger.warning("a \(what) became a dead letter", metadata: metadata(failure))
  }

  func retried(_ failure: Failure) {
    retries.add(.notice, "a record waits for its next run", reason: failure.reason, metadata(failure))
  }

  func timerFailed(_ failure: Failure) {
    retries.add(.warning, "a timer failed", reason: "timer \(failure.reason)", metadata(failure))
  }

  /// Reports counted retries.
  /// - Parameter all: Whether to report those that are not due, too.
  func flush(all: Bool = false) { retries.flush(all: all) }

  private func metadata(_ failure: Failure) -> Logger.Metadata {
    var metadata = failure.subject
    metadata["attempt"] = "\(failure.attempt)"
    metadata["reason"] = "\(failure.reason)"
    let isShown = failure.answer?.detailIsForeign != true || logger.logLevel <= .debug
    if isShown, !failure.detail.isEmpty { metadata["detail"] = "\(failure.detail)" }
    guard let answer = failure.answer else { return metadata }
    metadata["status"] = answer.status.map { "\($0)" }
    metadata["problem-type"] = answer.problemType.map { "\($0)" }
    metadata["problem-title"] = answer.problemTitle.map { "\($0)" }
    metadata["apple-error"] = answer.appleError.map { "\($0)" }
    return metadata
  }
}

extension LaneItem {
  /// The notification, its type and its key, as the log names them.
  var logged: Logger.Metadata {
    ["notification": "\(id)", "type": "\(typeLabel)", "key": "\(String(decoding: key, as: UTF8.self))"]
  }
}

extension NamedTimer {
  /// The timer and its key, as the log names them.
  var logged: Logger.Metadata {
    [
      "timer": "\(name)", "type": "\(FiredTimer.typeLabel)", "key": "\(String(decoding: timer.key, as: UTF8.self))",
    ]
  }
}
