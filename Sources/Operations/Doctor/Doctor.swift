// `millrace doctor`: the whole way from the configuration to a test notification in Kafka, each thing looked at even where
// another is broken, as far as it can be.

internal import AppStore
internal import AppStoreServerAPI
public import Clocks
internal import Kafka
public import Millrace

/// Looks at a deployment.
public struct Doctor: Sendable {
  /// What can be left out.
  public enum Part: String, Sendable, Hashable, CaseIterable {
    /// Everything that asks Apple.
    case apple
    /// Test notifications.
    case testNotification = "test-notification"
    /// The record that is written and read.
    case probe
  }

  /// How it is done.
  public struct Options: Sendable {
    /// What is left out.
    public var skipped: Set<Part> = []
    /// Which apps and environments are asked about.
    public var flags = BackfillFlags()
    /// How long Apple may take to post.
    public var wait = Duration.seconds(60)
    /// How long the cluster may take to answer.
    public var timeout = Duration.seconds(15)

    /// Everything.
    public init() {}
  }

  private let configuration: MillraceConfiguration
  private let options: Options
  private let clock: MillraceClock
  private let report: @Sendable (DoctorFinding) throws -> Void

  /// A look at what a configuration describes.
  /// - Parameter report: Hears of each finding as soon as it is there.
  public init(
    _ configuration: MillraceConfiguration, _ options: Options, clock: MillraceClock,
    report: @escaping @Sendable (DoctorFinding) throws -> Void
  ) {
    self.configuration = configuration
    self.options = options
    self.clock = clock
    self.report = report
  }

  /// The findings about a configuration that cannot be loaded.
  public static func findings(of error: MillraceError) -> [DoctorFinding] { ConfigurationChecks.findings(of: error) }

  /// Looks at everything.
  /// - Throws: what `report` throws; `CancellationError`.
  public func run() async throws -> DoctorSummary {
    var findings: [DoctorFinding] = []
    func add(_ new: [DoctorFinding]) throws {
      findings += new
      for finding in new { try report(finding) }
    }
    try add(ConfigurationChecks.findings(configuration))
    try add(ConfigurationChecks.files(configuration, clock: clock))
    let log = try await cluster(add)
    try Task.checkCancellation()
    try await apple(log, add)
    return DoctorSummary(findings)
  }

  // MARK: - Kafka

  private func cluster(_ add: ([DoctorFinding]) throws -> Void) async throws -> (any RecordLog)? {
    let kafka: KafkaConfiguration
    let survey: TopicsSurvey
    let catalog: TopicCatalog
    let present: [TopicState]
    do {
      kafka = try configuration.kafka.outsideClient()
      catalog = try TopicCatalog.load(configuration)
      survey = try await TopicsOperation(
        kafka, catalog: catalog, durability: configuration.kafka.durability, timeout: options.timeout
      ).survey()
      present = try await KafkaAdmin(kafka).describeTopics(catalog.topics.map(\.topic), timeout: options.timeout).map {
        TopicState($0)
      }
    } catch {
      try add([DoctorFinding(.cluster, error)])
      try add(
        [DoctorFinding.Check.topics, .durability, .probe].map {
          DoctorFinding($0, .skipped, "the cluster could not be asked")
        })
      return nil
    }
    try add([
      survey.cluster.isEmbedded
        ? DoctorFinding(
          .cluster, .warning, "an embedded cluster, which keeps nothing when it ends", of: kafka.bootstrapServers,
          remedy: "name a real cluster in production")
        : DoctorFinding(
          .cluster, .good, "\(HumanText.count(survey.cluster.brokerCount, "broker")) answer", of: kafka.bootstrapServers
        )
    ])
    try add(ClusterChecks.topics(survey))
    try add(ClusterChecks.durability(catalog, present, configuration.kafka.durability))
    let log = KafkaLog(kafka, cluster: survey.cluster)
    guard !options.skipped.contains(.probe) else {
      try add([DoctorFinding(.probe, .skipped, "as asked")])
      return log
    }
    // Kafka's answers come in real time, whatever time the deployment lives in.
    try add([
      await ClusterChecks.probe(log, prefix: configuration.topics.prefix, clock: .system, limit: options.timeout)
    ])
    return log
  }

  // MARK: - Apple

  private func apple(_ log: (any RecordLog)?, _ add: ([DoctorFinding]) throws -> Void) async throws {
    guard !options.skipped.contains(.apple) else {
      return try add([DoctorFinding.Check.apple, .testNotification].map { DoctorFinding($0, .skipped, "as asked") })
    }
    guard configuration.apps.contains(where: \.api.isComplete) else {
      return try add(
        [DoctorFinding.Check.apple, .testNotification].map { DoctorFinding($0, .skipped, "no app has a key") })
    }
    for app in try options.flags.apps(in: configuration) {
      let findings: [DoctorFinding]
      do {
        findings = try await APIAccess.with(app, configuration, clock: clock, part: 1) { client in
          try await look(at: app, client, log)
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        findings = [DoctorFinding(.apple, error, of: app.settings.bundleId)]
      }
      try add(findings)
    }
  }

  private func look(
    at app: APIApp, _ client: AppStoreServerClient, _ log: (any RecordLog)?
  ) async throws -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for target in BackfillFlags.targets(of: [app]) {
      let checks = AppleChecks(client: client, target: target, clock: clock)
      let reach = await checks.reach()
      findings.append(reach)
      try Task.checkCancellation()
      let reason: String? =
        if options.skipped.contains(.testNotification) { "as asked" } else if reach.severity != .good {
          "Apple could not be asked"
        } else if log == nil { "the cluster could not be asked" } else { nil }
      guard reason == nil, let log else {
        findings.append(DoctorFinding(.testNotification, .skipped, reason ?? "", of: target.description))
        continue
      }
      findings.append(
        await checks.arrival(
          in: configuration.topics.prefix + NotificationFamily.tests.topic, of: log, waiting: options.wait))
      try Task.checkCancellation()
    }
    return findings
  }
}
