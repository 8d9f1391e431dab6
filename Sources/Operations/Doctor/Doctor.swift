// Implements `millrace doctor`: checks a deployment from the configuration to a test notification in Kafka. A failed
// check does not stop the others, as far as they can run without it.

internal import AppStore
internal import AppStoreServerAPI
package import MillraceTime
internal import KafkaClient
package import MillraceCore
internal import MillraceRecords

/// Checks a deployment.
package struct Doctor: Sendable {
  /// A part of the checks that can be skipped.
  package enum Part: String, Sendable, Hashable, CaseIterable {
    /// All checks that call Apple.
    case apple
    /// The test notifications.
    case testNotification = "test-notification"
    /// The record that is written and read back.
    case probe
    /// The requests to HTTP servers.
    case endpoints
  }

  /// The options of a check.
  package struct Options: Sendable {
    /// The parts to skip.
    package var skipped: Set<Part> = []
    /// The apps and environments to check.
    package var flags = BackfillFlags()
    /// The time limit for Apple's delivery.
    package var wait = Duration.seconds(60)
    /// The time limit for the cluster's answer.
    package var timeout = Duration.seconds(15)
    /// The time limit for the answer of an HTTP server.
    package var endpointTimeout = Duration.seconds(5)
    /// The worker types whose files are checked.
    package var forms: [WorkerSettingsForm] = []
    /// HTTP servers that only the settings of a worker type name.
    package var endpoints: [EndpointAddress] = []
    /// Returns the findings on workers and conditions in what `millrace status` reads.
    package var state: (@Sendable () async throws -> [DoctorFinding])?
    /// Checks the database; nil if none is configured.
    package var postgres: (@Sendable () -> DoctorFinding?)?

    /// The defaults: nothing is skipped.
    package init() {}
  }

  private let configuration: MillraceConfiguration
  private let options: Options
  private let clock: MillraceClock
  private let report: @Sendable (DoctorFinding) throws -> Void
  private let note: @Sendable (String) -> Void

  /// Creates a check of a configured deployment.
  /// - Parameters:
  ///   - note: Receives progress: the cluster that is being asked, and why it does not answer.
  ///   - report: Receives each finding as soon as it is known.
  package init(
    _ configuration: MillraceConfiguration, _ options: Options, clock: MillraceClock,
    note: @escaping @Sendable (String) -> Void = { _ in }, report: @escaping @Sendable (DoctorFinding) throws -> Void
  ) {
    self.configuration = configuration
    self.options = options
    self.clock = clock
    self.note = note
    self.report = report
  }

  /// The findings about a configuration that cannot be loaded.
  package static func findings(of error: MillraceError) -> [DoctorFinding] { ConfigurationChecks.findings(of: error) }

  /// Runs all checks.
  /// - Throws: The error of `report`; `CancellationError`.
  package func run() async throws -> DoctorSummary {
    var findings: [DoctorFinding] = []
    func add(_ new: [DoctorFinding]) throws {
      findings += new
      for finding in new { try report(finding) }
    }
    try add(ConfigurationChecks.findings(configuration))
    try add(ConfigurationChecks.files(configuration, workers: options.forms, clock: clock))
    // Certificates are valid in real time.
    try add(
      CertificateChecks.findings(configuration, workers: options.forms, at: MillraceClock.system.wallTime))
    let log = try await cluster(add)
    try Task.checkCancellation()
    try await servers(add)
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
      kafka = try configuration.kafka.outsideClient().reporting(note)
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
        [DoctorFinding.Check.topics, .replicas, .durability, .transactions, .probe, .workers, .conditions].map {
          DoctorFinding($0, .skipped, "the cluster did not answer")
        })
      return nil
    }
    try add([
      survey.cluster.isEmbedded
        ? DoctorFinding(
          .cluster, .warning, "an embedded cluster, which loses its data when it ends", of: kafka.bootstrapServers,
          remedy: "use a real cluster in production")
        : DoctorFinding(
          .cluster, .good, "\(HumanText.count(survey.cluster.brokerCount, "broker")) answer", of: kafka.bootstrapServers
        )
    ])
    try add(ClusterChecks.topics(survey))
    try add(ClusterChecks.replicas(survey))
    try add(ClusterChecks.durability(catalog, present, configuration.kafka.durability))
    try add(
      await TransactionChecks(
        kafka: kafka, prefix: configuration.topics.prefix, clock: .system, timeout: options.timeout
      ).findings(present.map { ($0.topic, $0.partitions) }))
    let throttles = ThrottleStatus()
    let log = KafkaLog(kafka, cluster: survey.cluster) { client in
      ClientObserver(throttling: { _ in _ = throttles.note(client, at: .now) })
    }
    if let state = options.state {
      do { try add(try await state()) } catch is CancellationError { throw CancellationError() } catch {
        try add([DoctorFinding(.workers, .skipped, "the state could not be read"), DoctorFinding(.conditions, error)])
      }
    }
    guard !options.skipped.contains(.probe) else {
      try add([DoctorFinding(.probe, .skipped, "by option")])
      return log
    }
    // Kafka's answers take real time, whatever clock the deployment uses.
    try add([
      await ClusterChecks.probe(log, prefix: configuration.topics.prefix, clock: .system, limit: options.timeout)
    ])
    try add(ClusterChecks.quotas(throttles, at: .now))
    return log
  }

  // MARK: - Servers

  private func servers(_ add: ([DoctorFinding]) throws -> Void) async throws {
    if options.skipped.contains(.endpoints) {
      try add([DoctorFinding(.endpoints, .skipped, "by option")])
    } else {
      let addresses = try EndpointAddress.all(configuration) + options.endpoints
      if addresses.isEmpty { try add([DoctorFinding(.endpoints, .good, "the configuration names none")]) }
      for address in addresses {
        try add([await address.finding(timeout: options.endpointTimeout)])
        try Task.checkCancellation()
      }
    }
    try add([options.postgres?() ?? DoctorFinding(.postgres, .good, "no database is configured")])
  }

  // MARK: - Apple

  private func apple(_ log: (any RecordLog)?, _ add: ([DoctorFinding]) throws -> Void) async throws {
    guard !options.skipped.contains(.apple) else {
      return try add([DoctorFinding.Check.apple, .testNotification].map { DoctorFinding($0, .skipped, "by option") })
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
        if options.skipped.contains(.testNotification) { "by option" } else if reach.severity != .good {
          "Apple did not answer"
        } else if log == nil { "the cluster did not answer" } else { nil }
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
