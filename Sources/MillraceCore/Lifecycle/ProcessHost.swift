// What every process has beside its own services, so that each program builds only those.

package import Logging
package import MillraceTime
internal import Metrics
package import ServiceLifecycle

/// The clock, log, metrics, probes and shutdown of a process.
package struct ProcessHost: Sendable {
  /// The configured clock. Probes use real time, even if the configuration compresses the clock.
  package let clock: MillraceClock
  package let logger: Logger
  /// The metrics of `/metrics`.
  package let registry: PrometheusRegistry

  package let name: String
  package let configuration: MillraceConfiguration

  /// Creates the log and the metrics of a process. Call it once.
  ///
  /// - Parameters:
  ///   - name: The program's name in its output.
  ///   - helpTexts: The help texts of the process's metrics, by name.
  package init(
    _ name: String, _ configuration: MillraceConfiguration, helpTexts: [(name: String, help: String)] = []
  ) {
    self.name = name
    self.configuration = configuration
    clock = MillraceClock(configuration.clock)
    logger = configuration.logging.logger(label: name, clock: clock)
    registry = PrometheusRegistry(describing: helpTexts)
    MetricsSystem.bootstrap(registry)
  }

  /// Runs the services, and beside them the admin server with its probes, until one of them fails or the process receives
  /// a signal.
  ///
  /// - Parameters:
  ///   - services: The services in the order of their dependencies. They start after the admin server.
  ///   - first: Services that start before all others and end after them.
  ///   - checks: The conditions of `/readyz`. Their names must differ.
  ///   - pumps: The poll loops that `/livez` watches.
  /// - Returns: The exit status.
  package func run(
    _ services: [any Service], after first: [any Service] = [], checks: [ReadinessCheck],
    pumps: [Heartbeat.Pump] = []
  ) async -> ExitStatus {
    let heartbeat = Heartbeat(clock: .system, pumps: pumps)
    registry.add(heartbeat.collector)
    let settings = configuration.admin
    let readiness = ReadinessBoard(
      checks, clock: .system, timeout: settings.checkTimeout, maxAge: settings.checkMaxAge)
    let admin = AdminServer(settings, registry: registry, heartbeat: heartbeat, readiness: readiness, logger: logger)
    let runner = ProcessRunner(name: name, shutdown: configuration.shutdown, readiness: readiness, logger: logger)
    return await runner.run(first + [admin, heartbeat] + services)
  }
}

extension PrometheusRegistry {
  /// Creates a registry with help texts and the metrics that every process has. Those of Kafka clients are described.
  package convenience init(describing helpTexts: [(name: String, help: String)]) {
    self.init()
    for (name, help) in helpTexts + KafkaMetrics.helpTexts { describe(name, help) }
    for collector in ProcessMetrics.collectors { add(collector) }
  }
}
