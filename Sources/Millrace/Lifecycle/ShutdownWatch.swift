// The bound on a process's end: a service that hangs in its shutdown must not keep the process from leaving.

internal import Clocks
internal import Logging
internal import ServiceLifecycle

/// The first service that is asked to leave: it tells probes, and ends a process that does not come to its end.
struct ShutdownWatch: Service {
  /// From the request to leave to the forced end.
  var limit: Duration
  /// Real time outside of tests, whatever the configuration's clock does: the supervisor's patience is real.
  var clock: MillraceClock
  var readiness: ReadinessBoard?
  var logger: Logger
  var forceExit: @Sendable (ExitStatus) -> Void

  func run() async throws {
    try await gracefulShutdown()
    logger.info("leaving", metadata: ["limit": "\(DurationText.text(limit))"])
    await readiness?.beginDraining()
    let (deadline, clock, logger, forceExit) = (clock.now.advanced(by: limit), clock, logger, forceExit)
    // A task of its own: the group that ends its services would wait for a child, or cancel it with the others.
    Task.detached {
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
      logger.error("a service hangs: ending without it")
      forceExit(.software)
    }
  }
}
