// Runs a worker in a test: the real runtime on an in-memory log, with signed notifications and a manual clock.

public import AppStore
public import AppStoreServerAPI
internal import AppStoreSigning
internal import AppStoreSignature
public import MillraceTime
public import CoreMetrics
public import KafkaClient
internal import Logging
public import MillraceCore
public import MillraceRecords
public import MillraceWorker

/// Runs a worker as its process would, without Kafka and without waiting.
///
/// ```swift
/// try await WorkerHarness.run(Winback.self) { harness in
///   try await harness.receive(.expired, .voluntary)
///   #expect(try await harness.events().map(\.name) == ["winback.offered"])
/// }
/// ```
///
/// The harness uses the production code for verification, lanes, ledger, transactions, retry topics and dead letters.
/// Time does not pass until the test calls ``advance(by:)``.
public actor WorkerHarness {
  /// The settings of a harness.
  public struct Setup: Sendable {
    /// The partition count of the worker's lane topics.
    public var lanes = 2
    /// The configuration of the worker. The harness adds the app and the trusted root.
    public var configuration = MillraceConfiguration()
    /// The worker's own settings. If nil, ``configuration`` has them.
    public var settings: (any WorkerSettings)?
    /// Additional topics, with one partition each, that the worker reads or writes.
    public var tables: [String] = []
    /// The app's credentials for the App Store Server API. The test creates the key file.
    public var api = AppSettings().api
    /// Sends the worker's HTTP requests and answers its calls to the App Store Server API.
    ///
    /// If set, the app has credentials. If nil, the app has only the credentials in the configuration, and every
    /// request fails as not sent. A call that waits for a rate-limit slot waits until ``WorkerHarness/advance(by:)``
    /// reaches its time.
    public var appStore: (any HTTPExchange)?
    /// The name of the identity to run as; nil means the first one.
    public var identity: String?
    /// The seed of generated identifiers.
    public var seed: UInt64 = 1
    /// The maximum real time that the worker may take to become idle.
    public var patience = Duration.seconds(60)
    /// The destination of the worker's metrics; nil discards them.
    public var metrics: (any MetricsFactory)?

    /// Creates a setup with two lanes and no App Store.
    public init() {}
  }

  /// An event that the worker published.
  public struct Event: Sendable, Hashable {
    /// `ce_id`.
    public var id: String
    /// The event's name, without `dev.millrace.<worker>.`.
    public var name: String
    /// The ordering key.
    public var key: String
    /// The content.
    public var data: JSON
    /// The record in the events topic.
    public var record: ConsumerRecord
  }

  /// A dead letter that the worker wrote.
  public struct Death: Sendable, Hashable {
    /// The stable reason code.
    public var reason: String
    /// A description of the problem.
    public var detail: String
    /// The record in the dead-letter topic.
    public var record: ConsumerRecord
  }

  /// The log.
  public nonisolated let log: InMemoryLog
  /// The names of the worker's topics.
  public nonisolated let topics: WorkerTopics
  /// The worker's clock. It does not move until the test calls ``advance(by:)``.
  public nonisolated var clock: MillraceClock { time.clock }

  private nonisolated let time: ManualClock
  private let worker: String
  private let runtime: WorkerRuntime
  private let makeDryRuntime: @Sendable (OverlayLog, DryRunJournal) async throws -> WorkerRuntime
  private let patience: Duration
  private var fixtures: NotificationFixtures

  private init(
    log: InMemoryLog, topics: WorkerTopics, time: ManualClock, worker: String, runtime: WorkerRuntime,
    makeDryRuntime: @escaping @Sendable (OverlayLog, DryRunJournal) async throws -> WorkerRuntime, patience: Duration,
    fixtures: NotificationFixtures
  ) {
    self.makeDryRuntime = makeDryRuntime
    self.log = log
    self.topics = topics
    self.time = time
    self.worker = worker
    self.runtime = runtime
    self.patience = patience
    self.fixtures = fixtures
  }

  /// Runs `body` with a worker, and stops the worker afterwards.
  ///
  /// - Throws: The error of `body`, or the error that stopped the worker.
  public static func run<Worker: NotificationWorker>(
    _ type: Worker.Type, _ setup: Setup = Setup(),
    _ body: @escaping @Sendable (WorkerHarness) async throws -> Void
  ) async throws {
    let time = ManualClock()
    let log = InMemoryLog(clock: time.clock)
    var configuration = setup.configuration
    let identities = try Worker.identities(in: configuration)
    guard let identity = identities.first(where: { setup.identity == nil || $0.name == setup.identity }) else {
      throw HarnessError.noSuchIdentity(setup.identity)
    }
    let families = identity.families.union([.unrecognized])
    let router = try NotificationRouter(
      families.map { family in
        TopicDefinition(
          name: family.topic,
          notifications: .init(
            v2: NotificationTypeV2.allKnown.filter { NotificationFamily.types[family, default: []].contains($0) },
            unrecognized: family == .unrecognized))
      })
    let fixtures = try NotificationFixtures(router: router, from: time.clock.wallTime, seed: setup.seed)
    // Settings of the app that the test configured are kept.
    var app = fixtures.appSettings(
      configuration.apps.first { $0.bundleId == fixtures.app.bundleId } ?? AppSettings())
    app.api = setup.api
    configuration.apps = configuration.apps.filter { $0.bundleId != app.bundleId } + [app]
    var policy = configuration.policy(of: identity.name, standard: identity.policy)
    // Time does not pass by itself, so a commit must not wait for its batch to fill.
    policy.commitInterval = .zero
    let topics = WorkerTopics(type, as: identity, configuration, policy)
    for name in Set(topics.laneTopics) { try log.createTopic(name, partitions: setup.lanes) }
    for name in Set(topics.others + topics.outputTopics + setup.tables) {
      try log.createTopic(name, partitions: 1)
    }
    let credentials = setup.appStore == nil ? [:] : try fixtures.credentials()
    let make = { @Sendable [configuration, policy] (log: any RecordLog, journal: DryRunJournal?) in
      try await WorkerProcess.runtime(
        type, as: identity, configuration, policy, log: log, exchange: setup.appStore ?? NoAppStore(),
        metrics: setup.metrics ?? NOOPMetricsHandler.instance, verifier: fixtures.verifier,
        credentials: credentials, settings: setup.settings, dryRun: journal,
        clock: time.clock, logger: Logger(label: identity.name) { _ in SwiftLogNoOpLogHandler() })
    }
    let runtime = try await make(log, nil)
    let harness = WorkerHarness(
      log: log, topics: topics, time: time, worker: identity.name, runtime: runtime, makeDryRuntime: make,
      patience: setup.patience, fixtures: fixtures)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await runtime.run()
        return false
      }
      group.addTask {
        try await harness.settle()
        try await body(harness)
        return true
      }
      while let isBody = try await group.next() {
        if isBody { group.cancelAll() }
      }
    }
  }

  /// Writes a notification, as the ingress would, and waits until the worker is idle.
  @discardableResult
  public func receive(
    _ type: NotificationTypeV2, _ subtype: Subtype? = nil,
    _ change: @Sendable (inout NotificationFixtures.Draft) -> Void = { _ in }
  ) async throws -> NotificationFixture {
    var fixtures = fixtures
    let fixture = try await fixtures.next(SampleKind(type, subtype), signedDate: time.clock.wallTime, change)
    self.fixtures = fixtures
    try log.append(fixture.producerRecord)
    try await settle()
    return fixture
  }

  /// Writes notifications, and then waits until the worker is idle.
  package func receive(contentsOf types: [NotificationTypeV2]) async throws {
    var fixtures = fixtures
    for type in types {
      let fixture = try await fixtures.next(SampleKind(type), signedDate: time.clock.wallTime) { _ in }
      try log.append(fixture.producerRecord)
    }
    self.fixtures = fixtures
    try await settle()
  }

  /// Writes the same notification again, as Apple's retries do, and waits until the worker is idle.
  public func receive(again fixture: NotificationFixture) async throws {
    try log.append(fixture.producerRecord)
    try await settle()
  }

  /// Writes any record and waits until the worker is idle.
  public func receive(_ record: ProducerRecord) async throws {
    try log.append(record)
    try await settle()
  }

  /// Advances the clock and waits until the worker is idle.
  public func advance(by duration: Duration) async throws {
    time.advance(by: duration)
    try await settle()
  }

  /// Returns the events that the worker has published.
  public func events() throws -> [Event] {
    let prefix = "dev.millrace.\(worker)."
    return try log.records(in: topics.events).map { record in
      func text(_ name: String) -> String {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      let type = text("ce_type")
      return Event(
        id: text("ce_id"), name: type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type,
        key: String(decoding: record.key ?? [], as: UTF8.self), data: try JSON(parsing: record.value ?? []),
        record: record)
    }
  }

  /// Returns the dead letters that the worker has written.
  public func deadLetters() throws -> [Death] {
    log.records(in: topics.deadLetters).compactMap { record in
      DeadLetter(record.headers).map { Death(reason: $0.reason, detail: $0.detail, record: record) }
    }
  }

  /// Returns all records ever written to a topic, such as one of the worker's output topics.
  public func records(in topic: String) -> [ConsumerRecord] { log.records(in: topic) }

  /// Makes the worker measure its lag, as it does every few seconds in production.
  public func measureLag() async { await runtime.measureLag() }

  /// Returns all records ever written to the retry topics, by topic in the order of their delays.
  public func delayed() -> [[ConsumerRecord]] { topics.retries.map { log.records(in: $0) } }

  /// Executes the commands of a replay without effects, beside the worker that runs.
  package func dryRun(
    _ commands: [OperationCommand], showing shown: Int = 0, memoryLimit: Int = DryRun.memoryLimit
  ) async throws -> DryRunReport {
    try await DryRun.run(
      commands, of: topics, on: log, showing: shown, memoryLimit: memoryLimit, runtime: makeDryRuntime)
  }

  /// Waits until the worker has read all records, and no record is with a handler or waits for its commit.
  /// - Throws: ``HarnessError/restless(after:)`` if that takes longer than ``Setup/patience``.
  public func settle() async throws {
    let deadline = ContinuousClock.now + patience
    while true {
      if let rest = await runtime.rest(), rest.isQuiet, isRead(rest) { return }
      guard ContinuousClock.now < deadline else { throw HarnessError.restless(after: patience) }
      await Task.yield()
    }
  }

  private func isRead(_ rest: WorkerRest) -> Bool {
    topics.sources.allSatisfy { topic in
      let newest = Dictionary(grouping: log.records(in: topic), by: \.partition).compactMapValues { $0.last?.offset }
      return newest.allSatisfy { partition, offset in
        rest.taken[TopicPartition(topic: topic, partition: partition), default: 0] > offset
      }
    }
  }
}

/// An error of a harness.
public enum HarnessError: Error, Sendable, Hashable {
  /// The worker did not become idle. A handler may wait for something that does not happen.
  case restless(after: Duration)
  /// The worker has no identity of that name, or none at all.
  case noSuchIdentity(String?)
}

extension APICredentials {
  /// Creates credentials with a key that only a test's App Store accepts.
  static func harness(of bundleId: String, _ chain: SigningChain) throws -> APICredentials {
    let key = try APIKey(issuerId: "harness", keyId: "HARNESS", privateKeyPEM: chain.leafKeyPEM)
    return try APICredentials(bundleId: bundleId, keys: [key])
  }
}

/// Fails every request as not sent.
struct NoAppStore: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    throw TransportFailure("the harness has no App Store; set `appStore` in its setup", .notSent)
  }
}
