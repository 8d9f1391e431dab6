// `millrace backfill --follow` as a process, with the admin server, metrics and shutdown that every process has.

internal import AppStoreServerAPI
internal import MillraceTime
internal import CoreMetrics
internal import KafkaClient
internal import Logging
internal import Metrics
package import MillraceCore
internal import MillraceRecords
internal import MillraceWorker

/// Starts and runs a follower.
package enum FollowProcess {
  /// The part of an app's budget that `--follow` takes; a run takes the rest.
  static let budgetPart = 1 - BackfillOperation.budgetPart

  private static let name = "millrace-backfill"

  /// Runs until the process is asked to shut down and returns the exit status. Problems are printed on standard error.
  package static func run(
    _ flags: BackfillFlags, _ settings: FollowSettings, load: () throws -> MillraceConfiguration
  ) async -> ExitStatus {
    do {
      return try await serve(flags, settings, try load())
    } catch {
      return ProcessRunner.explain(error, name: name)
    }
  }

  private static func serve(
    _ flags: BackfillFlags, _ settings: FollowSettings, _ configuration: MillraceConfiguration
  ) async throws -> ExitStatus {
    let clock = MillraceClock(configuration.clock)
    let logger = configuration.logging.logger(label: name, clock: clock)
    let apps = try flags.apps(in: configuration)
    let catalog = try TopicCatalog.load(configuration)
    let kafka = try configuration.kafka.outsideClient(clientID: name)
    let registry = PrometheusRegistry()
    for (name, help) in FollowMetrics.helpTexts + KafkaMetrics.helpTexts { registry.describe(name, help) }
    for collector in ProcessMetrics.collectors { registry.add(collector) }
    MetricsSystem.bootstrap(registry)

    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30), logger: logger)
    return try await BackfillOperation.withParts(
      BackfillLog(on: log, prefix: configuration.topics.prefix), apps, configuration, part: budgetPart, clock: clock,
      logger: logger
    ) { parts, budget in
      let follower = BackfillFollower(
        parts, BackfillFlags.targets(of: apps), settings, metrics: FollowMetrics(factory: registry), logger: logger)
      let heartbeat = Heartbeat(clock: .system)
      for collector in follower.collectors + BudgetMetrics.collectors(of: budget) + [heartbeat.collector] {
        registry.add(collector)
      }
      let readiness = ReadinessBoard(
        [
          .kafka(
            KafkaAdmin(kafka), declared: BackfillOperation.topics(of: catalog),
            durability: configuration.kafka.durability, timeout: configuration.admin.checkTimeout),
          follower.readiness,
        ],
        clock: .system, timeout: configuration.admin.checkTimeout, maxAge: configuration.admin.checkMaxAge)
      let admin = AdminServer(
        configuration.admin, registry: registry, heartbeat: heartbeat, readiness: readiness, logger: logger)
      return await ProcessRunner(
        name: name, shutdown: configuration.shutdown, readiness: readiness, logger: logger
      ).run([admin, heartbeat, follower])
    }
  }
}
