// A deployment inside a test: the simulated App Store, an ingress that can be down, an in-memory log, and virtual time.

import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import KafkaClient
import Logging
import MillraceTesting
import Synchronization
import TestEnvironment
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import Operations

final class BackfillStage: Sendable {
  static let bundleId = StagedAppStore.bundleId
  static let coins = "com.example.app.coins"
  static let quiet = Logger(label: "backfill") { _ in SwiftLogNoOpLogHandler() }

  /// The state of the ingress.
  enum Ingress: Sendable {
    case up
    /// Nothing responds, so Apple retries.
    case down
    /// A proxy in front of the ingress answers with this status.
    case status(Int)
  }

  /// The App Store, with the clock of Apple and its notifications.
  let store: StagedAppStore
  /// The clock of operators and their processes.
  let pulse = ManualClock()
  let appStore: SimulatedAppStore
  let log: InMemoryLog
  let catalog: TopicCatalog
  let configuration: MillraceConfiguration
  let admission: NotificationAdmission
  private let scheduler: DeliveryScheduler
  private let ingress = Mode()

  var time: ManualClock { store.time }
  var clock: MillraceClock { store.clock }
  var now: Timestamp { clock.wallTime }
  var world: World { store.world }
  var services: APIServices { store.services }
  var verifier: SignedDataVerifier { store.verifier }

  init(
    environments: [AppStoreEnvironment] = [.production], workers: [TopicCatalog.Worker] = [], seed: UInt64 = 1,
    _ change: (inout SimulatorSettings) -> Void = { _ in }
  ) throws {
    var settings = SimulatorSettings()
    settings.limits = LimitSettings(perSecond: [:])
    settings.seed = seed
    change(&settings)
    let store = try StagedAppStore(
      environments: environments, products: [Product(productId: Self.coins, type: .consumable)], settings: settings)
    self.store = store
    appStore = SimulatedAppStore(store.services)
    var configuration = store.configuration
    configuration.trust.roots = [try store.file("root.der", store.chain.rootDER)]
    self.configuration = configuration
    let admission = try NotificationAdmission(configuration, clock: store.clock)
    self.admission = admission
    let catalog = try TopicCatalog.load(directory: Project.path("topics"), prefix: "", lanes: 2, workers: workers)
    self.catalog = catalog
    let log = InMemoryLog(clock: store.clock)
    self.log = log
    for topic in catalog.topics { try log.createTopic(topic.topic, partitions: topic.lanes) }

    var delivery = DeliverySettings()
    delivery.retriesAfterClientError = false
    let destinations = store.world.withState { state in
      Dictionary(state.realms.indices.map { ($0, Destination(url: "https://example.invalid/v2")) }) { first, _ in first
      }
    }
    let clock = store.clock
    let mode = ingress
    scheduler = DeliveryScheduler(
      world: store.world, signer: store.signer, destinations: destinations, settings: delivery, clock: clock,
      post: { _, body in
        switch mode.value {
        case .down: return PostOutcome(.socketIssue)
        case .status(let status): return PostOutcome(status: status)
        case .up:
          do {
            // The same steps as in the ingress.
            let record = try await admission.v2(body: body).record(
              origin: .post, traceParent: nil, receivedAt: clock.wallTime, router: catalog.router)
            try log.append(record.producerRecord)
            return PostOutcome(status: 200)
          } catch {
            return PostOutcome(status: 503)
          }
        }
      }, logger: Self.quiet)
  }

  // MARK: - The world

  func set(_ mode: Ingress) { ingress.value = mode }

  /// Makes purchases in every environment at the current time.
  func buy(_ count: Int) throws {
    let now = now
    try world.withState { state in
      for realm in state.realms.indices {
        for _ in 0..<count {
          let customer = try state.addCustomer(to: realm, at: now)
          _ = try state.purchase(Self.coins, by: customer, at: now)
        }
      }
    }
  }

  /// The `notificationUUID` of every notification that Apple has sent or tried to send.
  func told(in environment: AppStoreEnvironment? = nil) -> Set<String> {
    world.withState { state in
      Set(
        state.realms.indices.filter { environment == nil || state.realms[$0].environment == environment }.flatMap {
          state.realms[$0].log.records.map(\.facts.uuid.text)
        })
    }
  }

  /// Runs Apple's delivery while `body` runs.
  func delivering(_ body: () async throws -> Void) async throws {
    let scheduler = self.scheduler
    let running = Task { try await scheduler.run() }
    let result: Result<Void, any Error>
    do {
      try await body()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    running.cancel()
    _ = await running.result
    try result.get()
  }

  /// Advances time in steps. Returns when every notification from that time was attempted.
  func pass(_ duration: Duration, step: Duration = .seconds(3_600)) async throws {
    let end = clock.now.advanced(by: duration)
    while clock.now < end {
      time.advance(by: min(step, clock.now.duration(to: end)))
      try world.run(until: now)
      for _ in 0..<20 { await Task.yield() }
    }
    try await until { self.attempted() }
  }

  /// Advances time until Apple has no more retries.
  func exhaust() async throws {
    try await until {
      if self.scheduler.tally.waiting == 0 { return true }
      self.time.advance(by: .seconds(3_600))
      return false
    }
  }

  private func attempted() -> Bool {
    let isThere = world.withState { state in
      state.outbox.isEmpty && state.realms.allSatisfy { $0.log.records.allSatisfy { !$0.attempts.isEmpty } }
    }
    // The first attempt follows within a second.
    if !isThere { time.advance(by: .milliseconds(100)) }
    return isThere
  }

  /// Waits without a time limit of its own until `holds` returns true.
  func until(_ holds: () -> Bool) async throws {
    while !holds() {
      try Task.checkCancellation()
      for _ in 0..<20 { await Task.yield() }
    }
  }

  // MARK: - Backfill

  var targets: [BackfillTarget] {
    configuration.apps[0].environments.map { BackfillTarget(bundleId: Self.bundleId, environment: $0) }
  }

  func parts(
    _ process: String = "backfill", limits: RateLimits = .divided(by: 0.000_1), exchange: (any HTTPExchange)? = nil,
    onPause: @escaping @Sendable (BudgetPause) -> Void = { _ in }
  ) throws -> BackfillOperation.Parts {
    let apps = [try APIApp(app: nil, environment: nil, in: configuration)]
    let clients = try APIAccess.clients(
      of: apps, configuration, verifier: verifier, exchange: exchange ?? appStore,
      budget: APIBudget(limits: limits, share: 0.8, part: BackfillOperation.budgetPart, clock: clock, onPause: onPause),
      clock: clock)
    var parts = BackfillOperation.Parts(
      log: BackfillLog(on: log.process(process), prefix: ""), clients: clients, admission: admission, catalog: catalog,
      clock: clock)
    parts.pulse = pulse.clock
    parts.parallel = 4
    return parts
  }

  /// The `ce_id` of every record in the notification topics, including duplicates. nil selects all origins.
  func published(_ origin: NotificationOrigin? = nil) -> [String] {
    catalog.notificationTopics.flatMap { log.records(in: $0.topic) }.compactMap { record in
      let envelope = NotificationEnvelope(record)
      return origin == nil || envelope.origin == origin ? envelope.id : nil
    }
  }

  func quarantined() -> [QuarantineRecord] {
    log.records(in: QuarantineRecord.topic).compactMap { QuarantineRecord($0) }
  }
}

/// The current state of the ingress.
private final class Mode: Sendable {
  private let mode = Mutex(BackfillStage.Ingress.up)
  var value: BackfillStage.Ingress {
    get { mode.withLock { $0 } }
    set { mode.withLock { $0 = newValue } }
  }
}
