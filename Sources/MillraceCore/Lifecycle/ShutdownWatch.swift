// Limits the time of a shutdown: a service that hangs must not keep the process from ending.

internal import MillraceTime
internal import Logging
internal import ServiceLifecycle

/// The first service to shut down. It reports the process as not ready and ends the process if the shutdown hangs.
struct ShutdownWatch: Service {
  /// The time from the start of the shutdown to the forced end.
  var limit: Duration
  /// Real time outside tests, whatever the configuration's clock: the supervisor's time limit is real, too.
  var clock: MillraceClock
  var readiness: ReadinessBoard?
  var logger: Logger
  var forceExit: @Sendable (ExitStatus) -> Void

  func run() async throws {
    try await gracefulShutdown()
    logger.info("shutting down", metadata: ["limit": "\(DurationText.text(limit))"])
    await readiness?.beginDraining()
    let (deadline, clock, logger, forceExit) = (clock.now.advanced(by: limit), clock, logger, forceExit)
    // A detached task: the service group would wait for a child task, or cancel it with the others.
    Task.detached {
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
      logger.error("a service did not shut down in time; ending the process without it")
      forceExit(.software)
    }
  }
}
