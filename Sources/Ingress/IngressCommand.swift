// The command line of the ingress. It is in the library because two executables use it: `millrace-ingress`, and
// `millrace` when the container image starts it under that name.

package import ArgumentParser
internal import MillraceTime
internal import KafkaClient
internal import Logging
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
    let host = ProcessHost("millrace-ingress", configuration, helpTexts: IngressMetrics.helpTexts)
    let exporter = try host.exportTraces()

    if configuration.apps.isEmpty {
      host.logger.warning("no apps are configured (key `apps`); the ingress responds 503 to every notification")
    }
    let catalog = try TopicCatalog.load(configuration.topics)
    let embedded = try EmbeddedCluster.configured(configuration.kafka, catalog)
    let kafka = try configuration.kafka.client(
      clientID: "millrace-ingress", bootstrapServers: embedded?.bootstrapServers)
    let server = try IngressServer(
      configuration, catalog: catalog, kafka: kafka, clock: host.clock,
      revocation: configuration.trust.revocation.checker(clock: host.clock),
      tracer: exporter.map { ExportingTracer($0) }, logger: host.logger)
    for collector in server.collectors { host.registry.add(collector) }
    let topics = ReadinessCheck.kafka(
      KafkaAdmin(kafka), declared: IngressServer.topics(of: catalog), durability: configuration.kafka.durability,
      timeout: configuration.admin.checkTimeout)
    let status = await host.run(
      [server], after: exporter.map { [$0] } ?? [], checks: [topics, server.readiness])
    withExtendedLifetime(embedded) {}
    return status
  }
}
