// `millrace backfill --follow` as a process, with the admin server, metrics and shutdown that every process has.

internal import AppStoreServerAPI
internal import MillraceTime
internal import CoreMetrics
internal import KafkaClient
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
    let apps = try flags.apps(in: configuration)
    let catalog = try TopicCatalog.load(configuration)
    let kafka = try configuration.kafka.outsideClient(clientID: name)
    let host = ProcessHost(name, configuration, helpTexts: FollowMetrics.helpTexts)
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30), logger: host.logger)
    return try await BackfillOperation.withParts(
      BackfillLog(on: log, prefix: configuration.topics.prefix), apps, configuration, part: budgetPart,
      clock: host.clock, logger: host.logger
    ) { parts, budget in
      let follower = BackfillFollower(
        parts, BackfillFlags.targets(of: apps), settings, metrics: FollowMetrics(factory: host.registry),
        logger: host.logger)
      for collector in follower.collectors + BudgetMetrics.collectors(of: budget) { host.registry.add(collector) }
      let topics = ReadinessCheck.kafka(
        KafkaAdmin(kafka), declared: BackfillOperation.topics(of: catalog), durability: configuration.kafka.durability,
        timeout: configuration.admin.checkTimeout)
      return await host.run([follower], checks: [topics, follower.readiness])
    }
  }
}
