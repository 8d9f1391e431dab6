// Runs a worker as a process: creates its clients, runtimes, metrics and admin server.

package import AppStoreServerAPI
package import AppStoreSignature
package import MillraceTime
internal import KafkaClient
internal import OpenTelemetry
package import Logging
package import CoreMetrics
package import MillraceCore
package import MillraceRecords
internal import ServiceLifecycle

package enum WorkerProcess {
  /// Runs workers until the process is told to shut down.
  ///
  /// - Parameters:
  ///   - types: The types whose workers run in the process.
  ///   - program: The process's name in logs and in Kafka.
  ///   - names: The workers to run, of those that the types run as; empty: all.
  package static func run(
    _ types: [any NotificationWorker.Type], as program: String, _ configuration: MillraceConfiguration,
    only names: [String] = []
  ) async throws -> ExitStatus {
    let members = try WorkerIdentity.checked(types, in: configuration, only: names)
    let identities = members.map(\.identity)
    let policies = identities.map { configuration.policy(of: $0.name, standard: $0.policy) }
    let services = try types.flatMap { try $0.bootstrap() }
    let process = ProcessHost(program, configuration, helpTexts: WorkerMetrics.helpTexts)
    let (clock, logger) = (process.clock, process.logger)
    let exporter = try process.exportTraces()

    // The topics of events that the process reads are declared by the workers that publish them.
    let publishers = Set(
      identities.flatMap(\.eventTopics).map { String($0.dropFirst(PublishedEvent.topicPrefix.count)) })
    let catalog = try TopicCatalog.load(
      configuration.topics,
      workers: zip(identities, policies).map { .init(name: $0.name, retryDelays: $1.retryDelays) }
        + publishers.subtracting(identities.map(\.name)).sorted().map { .init(name: $0, retryDelays: []) })
    let embedded = try EmbeddedCluster.configured(configuration.kafka, catalog)
    let kafka = try configuration.kafka.client(clientID: program, bootstrapServers: embedded?.bootstrapServers)
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30), logger: logger)
    var connections = AsyncHTTPExchange.Configuration()
    // Each parallel handler has a connection of its own, because a wait for one would count toward its time limit.
    connections.connectionsPerHost = max(
      connections.connectionsPerHost, policies.reduce(0) { $0 + $1.parallelism * configuration.topics.lanes })
    let exchange = AsyncHTTPExchange(connections)
    let host = WorkerHost(process.registry)
    var runtimes: [WorkerRuntime] = []
    var laneTopics: Set<String> = []
    do {
      for (member, policy) in zip(members, policies) {
        var (log, logger) = (log, logger)
        if members.count > 1 {
          logger[metadataKey: "worker"] = "\(member.identity.name)"
          log = log.reporting(as: member.identity.name)
        }
        laneTopics.formUnion(WorkerTopics(member.type, as: member.identity, configuration, policy).laneTopics)
        let runtime = try await runtime(
          member.type, as: member.identity, configuration, policy, log: log, exchange: exchange, host: host,
          clock: clock, logger: logger)
        runtimes.append(runtime)
      }
    } catch {
      // Shut down the HTTP client, or its error about open connections would hide this one.
      await host.close()
      try await exchange.shutdown()
      throw error
    }

    for collector in runtimes.flatMap(\.collectors) { process.registry.add(collector) }
    let topics = ReadinessCheck.kafka(
      KafkaAdmin(kafka), declared: catalog.topics.filter { laneTopics.contains($0.topic) },
      durability: configuration.kafka.durability, timeout: configuration.admin.checkTimeout)
    let topic = configuration.topics.prefix + WorkerTopics.controlTopic
    let reporter = ProcessReporter(topic: topic, log: log, logger: logger) { [runtimes] in
      var reports: [ProcessReport] = []
      for runtime in runtimes { reports.append(await runtime.report(host)) }
      return reports
    }
    let status = await process.run(
      runtimes, after: (exporter.map { [$0] } ?? []) + services + [reporter],
      checks: [topics] + host.checks
        + zip(identities, runtimes).map { .worker($1, named: $0.name == program ? "worker" : $0.name) },
      pumps: pumps(of: zip(identities, runtimes).map { (name: $0.name, runtime: $1) }))
    await host.close()
    try await exchange.shutdown()
    withExtendedLifetime(embedded) {}
    return status
  }

  /// Returns the poll loop of each consumer group, which `/livez` watches.
  static func pumps(of workers: [(name: String, runtime: WorkerRuntime)]) -> [Heartbeat.Pump] {
    workers.map { worker in (worker.name, { worker.runtime.sinceLastTurn }) }
  }

  /// Creates the runtime of a worker.
  /// - Parameters:
  ///   - givenDecoder: A decoder for benchmarks, which may omit verification.
  ///   - settings: The worker's settings, for tests. If nil, the configuration has them.
  ///   - dryRun: Set if handlers run without effects. `log` is then an ``OverlayLog``.
  package static func runtime<Worker: NotificationWorker>(
    _ type: Worker.Type, as given: WorkerIdentity? = nil, _ configuration: MillraceConfiguration,
    _ policy: WorkerPolicy, log: any RecordLog,
    exchange: any HTTPExchange, metrics factory: any MetricsFactory = MetricsSystem.factory,
    verifier givenVerifier: SignedDataVerifier? = nil, decoder givenDecoder: (any NotificationDecoding)? = nil,
    credentials: [String: APICredentials] = [:], instance: String? = nil, settings: (any WorkerSettings)? = nil,
    host: WorkerHost? = nil, dryRun: DryRunJournal? = nil, clock: MillraceClock, logger: Logger
  ) async throws -> WorkerRuntime {
    let exchange = dryRun?.guarding(exchange) ?? exchange
    let identity = given ?? Worker.identity
    let metrics = WorkerMetrics(worker: identity.name, factory: factory)
    let verifier =
      try givenVerifier
      ?? SignedDataVerifier.configured(
        configuration.trust, clock: clock, revocation: configuration.trust.revocation.checker(clock: clock))
    let decoder =
      givenDecoder ?? NotificationDecoder(verifier: verifier, identities: configuration.identities)
    let (pauses, newPauses) = AsyncStream.makeStream(of: BudgetPause.self, bufferingPolicy: .bufferingNewest(1_000))
    let shares = APIShares(of: identity.name, in: configuration)
    if !shares.undeclared.isEmpty {
      logger.notice(
        "workers without configured `calls` share the budget of every endpoint that this one calls",
        metadata: ["workers": "\(shares.undeclared.joined(separator: ", "))"])
    }
    let budget = APIBudget(
      // Calls of a dry run are not made, so none has to wait.
      limits: .divided(by: configuration.appStore.limitDivisor * (dryRun == nil ? 1 : 1e-6)),
      share: configuration.appStore.share,
      division: { shares.part(at: $0) }, part: 0, clock: clock
    ) { newPauses.yield($0) }
    let topics = WorkerTopics(type, as: identity, configuration, policy)
    // A worker that makes no calls reads no key files, so its process does not need them.
    var calling = configuration
    if shares.callsNothing { for index in calling.apps.indices { calling.apps[index].api = .init() } }
    let clients = try AppStoreClients(
      calling, credentials: credentials, verifier: verifier, exchange: exchange, budget: budget, clock: clock,
      logger: logger)
    let worker = try await Worker(
      WorkerSetup(
        name: identity.name, configuration: configuration, settings: settings, clock: clock, logger: logger,
        http: exchange, log: log, host: host, metrics: factory, dryRun: dryRun))
    let handler = LaneHandler(
      worker, name: identity.name, decoder: decoder, policy: policy,
      tools: HandlerTools(
        clock: clock, clients: clients, ledgers: WorkerLedgers(topics: topics, log: log), logger: logger),
      metrics: metrics)
    return WorkerRuntime(
      WorkerRuntime.Parts(
        name: identity.name, log: log, topics: topics,
        prefix: configuration.topics.prefix, policy: policy,
        commit: dryRun == nil ? try configuration.kafka.commit(on: log.description) : .atLeastOnce,
        instance: instance ?? configuration.instance(of: identity.name),
        staticMember: dryRun == nil ? configuration.staticMember(of: identity.name) : nil,
        onStop: configuration.onStop(of: identity.name),
        handler: dryRun.map { DryRunHandler(handler, $0) } ?? handler,
        deadline: { Worker.deadline(of: $0, receivedAt: $1) }, erasure: try ErasureRules(configuration.privacy),
        budget: budget,
        pauses: PauseChannel(
          topic: topics.control, log: log, pauses: pauses, budget: budget, logger: logger
        ) { metrics.unreadable($0, because: $1, logger) },
        dryRun: dryRun, clock: clock, metrics: metrics, logger: logger))
  }
}

extension WorkerTopics {
  /// Creates the topics of a worker from the configuration.
  package init<Worker: NotificationWorker>(
    _ type: Worker.Type, as given: WorkerIdentity? = nil, _ configuration: MillraceConfiguration,
    _ policy: WorkerPolicy
  ) {
    let prefix = configuration.topics.prefix
    let identity = given ?? Worker.identity
    self.init(
      worker: identity.name, inputs: (identity.families.map(\.topic) + identity.eventTopics).map { prefix + $0 },
      outputTopics: Worker.outputTopics.map { prefix + $0 }, delays: policy.retryDelays, prefix: prefix)
  }
}

extension MillraceConfiguration {
  /// The apps whose notifications are accepted.
  package var identities: IdentityPolicy {
    IdentityPolicy(
      apps.map {
        AppIdentity(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
      })
  }

  /// Returns the name of this instance of a worker: the static member name, or else a random one.
  func instance(of worker: String) -> String {
    if let member = staticMember(of: worker) { return member }
    var generator = SystemRandomNumberGenerator()
    return String(generator.next(), radix: 36)
  }
}

extension KafkaSettings {
  /// Returns how workers commit.
  /// - Throws: ``MillraceError`` if transactions are configured and the log does not support them.
  func commit(on log: LogDescription) throws(MillraceError) -> Commit {
    let hasTransactions = log.capabilities.contains(.transactions)
    if commit == .transactional, !hasTransactions {
      throw MillraceError(
        .configuration, "the embedded cluster accepts transactions but gives none of their guarantees",
        at: "kafka.commit", remedy: "set it to at-least-once, or use a real cluster")
    }
    return commit ?? (hasTransactions ? .transactional : .atLeastOnce)
  }
}
