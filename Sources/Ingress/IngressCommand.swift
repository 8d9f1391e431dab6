// The command line of the ingress. It is in the library because two executables use it: `millrace-ingress`, and
// `millrace` when the container image starts it under that name.

package import ArgumentParser
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Metrics
internal import MillraceCore
internal import MillraceRecords
internal import OpenTelemetry

/// The command line of `millrace-ingress`.
package struct IngressCommand: AsyncParsableCommand {
  /// Name, help and version.
  package static let configuration = CommandConfiguration(
    commandName: "millrace-ingress",
    abstract: "Receives App Store Server Notifications and writes them to Kafka.",
    discussion: """
      Responds 200 only after Kafka has acknowledged the notification (acks=all). Metrics and probes are on the admin port.

      Examples:
        millrace-ingress --config millrace.yaml
        millrace-ingress --config millrace.yaml --print-config
        MILLRACE_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 millrace-ingress --config millrace.yaml
      """,
    version: MillraceVersion.text)

  @OptionGroup var process: ProcessOptions

  /// Creates a command without arguments.
  package init() {}

  /// Serves until the process is asked to stop.
  package func run() async throws {
    try await process.run("millrace-ingress", serving: serve)
  }

  private func serve(_ configuration: MillraceConfiguration) async throws -> ExitStatus {
    let clock = MillraceClock(configuration.clock)
    let logger = configuration.logging.logger(label: "millrace-ingress", clock: clock)
    let registry = PrometheusRegistry()
    IngressServer.describeMetrics(in: registry)
    for collector in ProcessMetrics.collectors { registry.add(collector) }
    MetricsSystem.bootstrap(registry)
    let exporter = try TraceExport.start(
      configuration.tracing, service: "millrace-ingress", instance: configuration.kafka.instance, logger: logger)
    for collector in exporter?.collectors ?? [] { registry.add(collector) }

    if configuration.apps.isEmpty {
      logger.warning("no apps are configured (key `apps`); the ingress responds 503 to every notification")
    }
    let catalog = try TopicCatalog.load(configuration.topics)
    let embedded = try embeddedCluster(configuration.kafka, catalog)
    let kafka = try configuration.kafka.client(
      clientID: "millrace-ingress", bootstrapServers: embedded?.bootstrapServers)
    // Probes use real time, even if the configuration compresses the clock.
    let heartbeat = Heartbeat(clock: .system)
    registry.add(heartbeat.collector)
    let server = try IngressServer(
      configuration, catalog: catalog, kafka: kafka, clock: clock,
      revocation: configuration.trust.revocation.checker(clock: clock),
      tracer: exporter.map { ExportingTracer($0) }, logger: logger)
    let readiness = ReadinessBoard(
      [
        .kafka(
          KafkaAdmin(kafka), declared: IngressServer.topics(of: catalog), durability: configuration.kafka.durability,
          timeout: configuration.admin.checkTimeout),
        server.readiness,
      ],
      clock: .system, timeout: configuration.admin.checkTimeout, maxAge: configuration.admin.checkMaxAge)
    let admin = AdminServer(
      configuration.admin, registry: registry, heartbeat: heartbeat, readiness: readiness, logger: logger)
    for collector in server.collectors { registry.add(collector) }
    let runner = ProcessRunner(
      name: "millrace-ingress", shutdown: configuration.shutdown, readiness: readiness, logger: logger)
    let status = await runner.run(
      (exporter.map { [$0] } ?? []) + [admin, heartbeat, server])
    withExtendedLifetime(embedded) {}
    return status
  }

  private func embeddedCluster(_ settings: KafkaSettings, _ catalog: TopicCatalog) throws -> EmbeddedCluster? {
    guard settings.isEmbedded else { return nil }
    let cluster = try EmbeddedCluster()
    try cluster.create(catalog)
    return cluster
  }
}
