// A worker in a test: the real runtime over a log in memory, signed notifications in, time turned by hand.

public import AppStore
public import AppStoreServerAPI
internal import AppStoreSigning
internal import AppStoreSignature
public import Clocks
public import CoreMetrics
public import Kafka
internal import Logging
public import Millrace

/// Runs a worker as its process would, without Kafka and without waiting.
///
/// ```swift
/// try await WorkerHarness.run(Winback.self) { harness in
///   try await harness.receive(.expired, .voluntary)
///   #expect(try await harness.events().map(\.name) == ["winback.offered"])
/// }
/// ```
///
/// Everything between is the product's own: verification, lanes, ledger, transactions, retry tiers, dead letters. Time
/// stands still until ``advance(by:)``.
public actor WorkerHarness {
  /// What a harness is made of.
  public struct Setup: Sendable {
    /// Partitions of every topic of the worker.
    public var lanes = 2
    /// The configuration the worker is made with; app and trust are added.
    public var configuration = MillraceConfiguration()
    /// Topics of one partition that the worker reads or writes beside its own.
    public var tables: [String] = []
    /// The app's credentials for the App Store Server API; the key file is the test's to make.
    public var api = AppSettings().api
    /// Carries what the worker sends by HTTP, and answers calls to the App Store Server API, for which the app has
    /// credentials then; nil: it has none but what the configuration gives, and everything fails as not sent. A call that
    /// waits for its turn is at rest until ``WorkerHarness/advance(by:)`` brings it.
    public var appStore: (any HTTPExchange)?
    /// The name of the identity it runs as; nil: the first.
    public var identity: String?
    /// The seed of identifiers.
    public var seed: UInt64 = 1
    /// How long, in real time, the worker may take to come to rest.
    public var patience = Duration.seconds(60)
    /// Where the worker's metrics go; nil: nowhere.
    public var metrics: (any MetricsFactory)?

    /// Two lanes, no App Store.
    public init() {}
  }

  /// An event that the worker published.
  public struct Event: Sendable, Hashable {
    /// `ce_id`.
    public var id: String
    /// The event's name, without `dev.millrace.<worker>.`.
    public var name: String
    /// What orders it.
    public var key: String
    /// Its content.
    public var data: JSON
    /// The record as it stands in Kafka.
    public var record: ConsumerRecord
  }

  /// A dead letter that the worker made.
  public struct Death: Sendable, Hashable {
    /// The stable code.
    public var reason: String
    /// What happened.
    public var detail: String
    /// The record as it stands in Kafka.
    public var record: ConsumerRecord
  }

  /// The log.
  public nonisolated let log: InMemoryLog
  /// The names of the worker's topics.
  public nonisolated let topics: WorkerTopics
  /// The clock that the worker lives by; stands still until ``advance(by:)``.
  public nonisolated var clock: MillraceClock { time.clock }

  private nonisolated let time: ManualClock
  private let worker: String
  private let runtime: WorkerRuntime
  private let patience: Duration
  private var fixtures: NotificationFixtures

  private init(
    log: InMemoryLog, topics: WorkerTopics, time: ManualClock, worker: String, runtime: WorkerRuntime,
    patience: Duration, fixtures: NotificationFixtures
  ) {
    self.log = log
    self.topics = topics
    self.time = time
    self.worker = worker
    self.runtime = runtime
    self.patience = patience
    self.fixtures = fixtures
  }

  /// Runs `body` beside a worker and ends the worker afterwards.
  ///
  /// - Throws: what `body` throws, or what ended the worker.
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
            v2: NotificationTypeV2.allKnown.filter { family.takes($0) }, unrecognized: family == .unrecognized))
      })
    let fixtures = try NotificationFixtures(router: router, from: time.clock.wallTime, seed: setup.seed)
    // What a test configured of the app stays.
    var app = fixtures.appSettings(
      configuration.apps.first { $0.bundleId == fixtures.app.bundleId } ?? AppSettings())
    app.api = setup.api
    configuration.apps = configuration.apps.filter { $0.bundleId != app.bundleId } + [app]
    var policy = configuration.policy(of: identity.name, standard: identity.policy)
    // A test that stands still in time must not wait for a batch to fill.
    policy.commitInterval = .zero
    let topics = WorkerTopics(type, as: identity, configuration, policy)
    for name in Set(topics.laneTopics) { try log.createTopic(name, partitions: setup.lanes) }
    for name in Set(topics.others + topics.tables + setup.tables) {
      try log.createTopic(name, partitions: 1)
    }
    let runtime = try await WorkerProcess.runtime(
      type, as: identity, configuration, policy, log: log, exchange: setup.appStore ?? NoAppStore(),
      metrics: setup.metrics ?? NOOPMetricsHandler.instance, verifier: fixtures.verifier,
      credentials: setup.appStore == nil ? [:] : try fixtures.credentials(),
      clock: time.clock, logger: Logger(label: identity.name) { _ in SwiftLogNoOpLogHandler() })
    let harness = WorkerHarness(
      log: log, topics: topics, time: time, worker: identity.name, runtime: runtime, patience: setup.patience,
      fixtures: fixtures)
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

  /// Puts a notification in, as the ingress would, and waits until the worker came to rest.
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

  /// Puts the same notification in once more, as Apple's retries do.
  public func receive(again fixture: NotificationFixture) async throws {
    try log.append(fixture.producerRecord)
    try await settle()
  }

  /// Puts any record in.
  public func receive(_ record: ProducerRecord) async throws {
    try log.append(record)
    try await settle()
  }

  /// Turns time forward and waits until the worker came to rest.
  public func advance(by duration: Duration) async throws {
    time.advance(by: duration)
    try await settle()
  }

  /// What the worker published so far.
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

  /// The dead letters the worker made so far.
  public func deadLetters() throws -> [Death] {
    log.records(in: topics.deadLetters).compactMap { record in
      DeadLetter(record.headers).map { Death(reason: $0.reason, detail: $0.detail, record: record) }
    }
  }

  /// Has the worker measure how far it is behind, as it does every few seconds.
  public func measureLag() async { await runtime.measureLag() }

  /// The records that wait on retry tiers or waited there, by tier in the order of their delays.
  public func parked() -> [[ConsumerRecord]] { topics.retries.map { log.records(in: $0) } }

  /// Waits until the worker has read what there is, and nothing is with a handler or on its way to Kafka.
  /// - Throws: ``HarnessError/restless`` when that takes longer than the setup's patience.
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

/// Why a harness gave up.
public enum HarnessError: Error, Sendable, Hashable {
  /// The worker did not come to rest: a handler that waits for something that does not come?
  case restless(after: Duration)
  /// The worker has no identity of that name, or none at all.
  case noSuchIdentity(String?)
}

extension APICredentials {
  /// An app's, with a key that only a test's App Store takes.
  static func harness(of bundleId: String, _ chain: SigningChain) throws -> APICredentials {
    let key = try APIKey(issuerId: "harness", keyId: "HARNESS", privateKeyPEM: chain.leafKeyPEM)
    return try APICredentials(bundleId: bundleId, keys: [key])
  }
}

/// Answers no call.
struct NoAppStore: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    throw TransportFailure("there is no App Store here", .notSent)
  }
}

extension NotificationFamily {
  /// Whether the family's topic takes a type where the topic files are as they ship.
  fileprivate func takes(_ type: NotificationTypeV2) -> Bool { Self.types[self, default: []].contains(type) }

  private static let types: [NotificationFamily: Set<NotificationTypeV2>] = [
    .subscriptions: [
      .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .expired,
      .didFailToRenew, .gracePeriodExpired, .priceIncrease,
    ],
    .purchases: [.oneTimeCharge],
    .refunds: [.refund, .refundDeclined, .refundReversed, .revoke],
    .renewalExtensions: [.renewalExtended, .renewalExtension],
    .consumptionRequests: [.consumptionRequest],
    .externalPurchases: [.externalPurchaseToken],
    .advancedCommerce: [.metadataUpdate, .migration, .priceChange],
    .consent: [.rescindConsent],
    .tests: [.test],
  ]
}
