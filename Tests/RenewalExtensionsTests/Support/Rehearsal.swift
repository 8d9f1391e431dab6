// A deployment inside a test: the simulated App Store, an in-memory log, the real worker runtime, and virtual time.
// Notifications go from the simulator to the log as the ingress would write them.

import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import CoreMetrics
import Foundation
import KafkaClient
import Logging
import MillraceTesting
import TestSupport

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Operations
@testable import RenewalExtensions

struct Rehearsal: Sendable {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let logger = Logger(label: "rehearsal") { label in
    guard ProcessInfo.processInfo.environment["REHEARSAL_LOG"] != nil else { return SwiftLogNoOpLogHandler() }
    return StreamLogHandler.standardError(label: label)
  }

  let time = ManualClock()
  let world: World
  let services: APIServices
  let exchange: SimulatedExchange
  let log: InMemoryLog
  let topics: WorkerTopics
  let configuration: MillraceConfiguration
  let policy: WorkerPolicy
  private let signer: NotificationSigner
  private let verifier: SignedDataVerifier
  private let router: NotificationRouter

  var clock: MillraceClock { time.clock }
  var now: Timestamp { time.clock.wallTime }

  /// - Parameters:
  /// - missing: A topic that the cluster does not have.
  /// - workers: Additional workers next to the default one, with their entries in the configuration.
  init(
    lanes: Int = 2, seed: UInt64 = 1, without missing: String? = nil, workers: [String: WorkerEntry] = [:],
    limitDivisor: Double = 1, _ change: (inout SimulatorSettings) -> Void = { _ in }
  ) throws {
    var settings = SimulatorSettings()
    settings.requestMemory = .successes
    settings.seed = seed
    change(&settings)
    let store = try StagedAppStore(
      bundleId: Self.bundleId, products: [Product(productId: Self.monthly)], settings: settings, clock: time.clock)
    (world, services, signer) = (store.world, store.services, store.signer)
    exchange = SimulatedExchange(services)
    world.withState { $0.hasPostman = true }
    verifier = try store.verifier()
    router = try NotificationRouter([
      TopicDefinition(
        name: NotificationFamily.renewalExtensions.topic,
        notifications: .init(v2: [.renewalExtended, .renewalExtension])),
      TopicDefinition(name: NotificationFamily.unrecognized.topic, notifications: .init(unrecognized: true)),
    ])
    var configuration = try Self.configuration(key: store.privateKey)
    configuration.workers = workers
    configuration.appStore.limitDivisor = limitDivisor
    self.configuration = configuration
    var policy = RenewalExtensionsWorker.policy
    policy.commitInterval = .zero
    self.policy = policy
    topics = WorkerTopics(RenewalExtensionsWorker.self, configuration, policy)
    log = InMemoryLog(clock: time.clock)
    for name in topics.laneTopics { try log.createTopic(name, partitions: lanes) }
    for name in topics.others + topics.outputTopics where name != missing {
      try log.createTopic(name, partitions: 1)
    }
    for worker in workers.keys where worker != RenewalExtensionsWorker.name {
      let own = WorkerTopics(
        RenewalExtensionsWorker.self, as: Self.identity(worker, policy), configuration, policy)
      for name in own.laneTopics where !topics.laneTopics.contains(name) {
        try log.createTopic(name, partitions: lanes)
      }
      try log.createTopic(own.events, partitions: 1)
    }
  }

  /// The same worker with another name, which also receives every failure.
  private static func identity(_ name: String, _ policy: WorkerPolicy) -> WorkerIdentity {
    WorkerIdentity(name: name, families: RenewalExtensionsWorker.families, policy: policy)
  }

  private static func configuration(key: String) throws -> MillraceConfiguration {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("rehearsal-\(UUID()).p8")
    try Data(key.utf8).write(to: file)
    return .calling(
      bundleId: bundleId, key: Scenario.madeKey, keyFile: file.path, production: SimulatedExchange.productionURL,
      sandbox: SimulatedExchange.sandboxURL)
  }
}

// Time and notifications.
extension Rehearsal {
  /// Advances time. Runs due events of the simulation and writes their notifications to the log.
  func pass(_ duration: Duration, duplicates: Int = 0) throws {
    time.advance(by: duration)
    try world.run(until: now)
    try deliver(duplicates: duplicates)
  }

  /// Writes pending notifications to the log. Every n-th is written twice if `duplicates` is n.
  func deliver(duplicates: Int = 0) throws {
    let subjects = world.withState { state in
      let subjects = state.outbox.compactMap { id in
        state.realms[id.realm].log[id.sequence].map { state.subject(of: $0) }
      }
      state.outbox.removeAll()
      return subjects
    }
    for (number, subject) in subjects.enumerated() {
      guard [.renewalExtended, .renewalExtension].contains(subject.facts.kind.type) else { continue }
      let record = try StagedAppStore.received(Array(try signer.signedPayload(subject).utf8), router: router)
        .producerRecord
      try log.append(record)
      if duplicates > 0, number % duplicates == 0 { try log.append(record) }
    }
  }

  /// Creates customers with the monthly plan, and returns their subscriptions.
  /// - Parameter sharing: The number of family members per subscription, whose transactions are not returned.
  func settle(_ count: Int, family: Bool = false, sharing: Int = 0) throws -> [Int64] {
    let now = now
    return try world.withState { state throws(WorldError) in
      let known = Set(state.subscriptions.keys)
      try state.settle(
        Scenario.Population(
          bundleId: Self.bundleId, environment: .production, count: count, products: [Self.monthly],
          storefronts: ["USA", "DEU"], ownership: family ? .familyShared : .purchased,
          family: sharing), at: now)
      let members = Set(state.families.values.flatMap { $0.map(\.original) })
      return state.subscriptions.keys.filter { !known.contains($0) && !members.contains($0) }.sorted()
    }
  }

  /// The number of extensions of a subscription since a time.
  func extensions(of id: Int64, since time: Timestamp = Timestamp(millisecondsSince1970: 0)) -> Int {
    world.withState { $0.subscriptions[id]?.extensions.count { $0 >= time } ?? 0 }
  }

  /// The number of status requests for mass extensions so far.
  var statusCalls: Int { services.report.asked.first { $0.endpoint == .getMassExtendStatus }?.count ?? 0 }

  /// The number of calls of Extend a Subscription Renewal Date so far.
  var extensionCalls: Int { exchange.calls(to: "PUT /inApps/v1/subscriptions/extend") }

  func inject(_ fault: Fault) { services.inject(fault) }
}

// Campaigns.
extension Rehearsal {
  var campaigns: CampaignLog { CampaignLog(on: log, prefix: "") }

  /// A client with its own budget, like the command line's.
  func client() throws -> AppStoreServerClient {
    let app = try APIApp(app: nil, environment: nil, in: configuration)
    return APIAccess.client(
      app, configuration.appStore, credentials: try APIAccess.credentials(of: app), verifier: verifier,
      exchange: exchange, budget: APIBudget(share: configuration.appStore.share, clock: clock), clock: clock)
  }

  func start() throws -> CampaignStart { CampaignStart(campaigns, client: try client(), clock: clock) }

  func draft(_ id: String = CampaignStart.newID()) throws -> Campaign {
    try CampaignDraft(product: Self.monthly, days: 7, reason: 3, storefronts: []).campaign(
      id: id, bundleId: Self.bundleId, environment: .production, at: now, by: "ann")
  }

  /// Starts a campaign for the monthly plan.
  func startCampaign() async throws -> Campaign {
    let campaign = try draft()
    guard try await start().start(campaign, knowing: []) == .accepted else { throw NotAccepted() }
    return campaign
  }

  struct NotAccepted: Error {}

  /// The progress of a campaign from the worker's lanes.
  func progress(of campaign: Campaign) async throws -> CampaignProgress {
    CampaignProgress(
      try await LedgerTally.read(topics, in: log, prefixes: CampaignProgress.prefixes(of: campaign.id)),
      of: campaign.id)
  }
}

// Workers.
extension Rehearsal {
  /// A process of the worker.
  struct Worker: Sendable {
    let log: InMemoryLog
    let runtime: WorkerRuntime
    let task: Task<(any Error)?, Never>

    /// The number of callers that wait for a slot to extend a subscription.
    var callersInLine: Int { Int(metric("millrace_api_callers_waiting")) }
    /// Whether a 429 delays them.
    var isPaused: Bool { metric("millrace_api_paused") > 0 }
    /// The number of slots taken. A call follows each of them shortly after.
    var turns: Double { metric("millrace_api_turns_total") }
    /// The slots per second for the process's lanes.
    var turnsPerSecond: Double { metric("millrace_api_budget_per_second") }
    /// Whether a slot is free for a waiting caller, whose task is about to take it.
    var isTurnOpen: Bool {
      guard let budget = runtime.budget else { return false }
      let callers = budget.use().reduce(0) { $0 + $1.waiting }
      return callers > 0 && !budget.isAtRest(callers: callers)
    }

    private func metric(_ name: String) -> Double {
      runtime.collectors.filter { $0.name == name }.flatMap { $0.collect() }
        .filter { sample in sample.labels.contains { $0.1 == "extendSubscriptionRenewalDate" } }
        .reduce(0) { $0 + $1.value }
    }

    /// Whether it has read all records, and none is in a handler or on its way to Kafka.
    var isAtRest: Bool {
      get async {
        guard let rest = await runtime.rest(), rest.isQuiet else { return false }
        return rest.taken.allSatisfy { partition, offset in
          let newest = log.records(in: partition.topic).last { $0.partition == partition.partition }?.offset ?? -1
          return offset > newest
        }
      }
    }
  }

  func startWorker(_ name: String) async throws -> Worker {
    let log = log.process(name)
    let identity = configuration.workers[name] != nil ? Self.identity(name, policy) : nil
    let runtime = try await WorkerProcess.runtime(
      RenewalExtensionsWorker.self, as: identity, configuration, policy, log: log, exchange: exchange,
      metrics: NOOPMetricsHandler.instance, verifier: verifier, instance: name, clock: clock, logger: Self.logger)
    let task = Task<(any Error)?, Never> {
      do {
        try await runtime.run()
        return nil
      } catch {
        return error
      }
    }
    return Worker(log: log, runtime: runtime, task: task)
  }

  /// Runs workers concurrently with `body`, and ends them.
  func running(
    _ names: String..., body: (inout [Worker]) async throws -> Void
  ) async throws {
    var workers: [Worker] = []
    let result: Result<Void, any Error>
    do {
      for name in names { workers.append(try await startWorker(name)) }
      let started = workers
      try await until { started.allSatisfy { $0.runtime.readiness.isReady } }
      try await body(&workers)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await end(workers)
    try result.get()
  }

  /// Ends processes. Time has to advance for that.
  private func end(_ workers: [Worker]) async {
    for worker in workers { worker.task.cancel() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for worker in workers { _ = await worker.task.value } }
      group.addTask {
        while !Task.isCancelled {
          time.advance(by: .milliseconds(100))
          await Task.yield()
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Advances time in small steps until a condition holds.
  func until(
    within limit: Duration = .seconds(600), step: Duration = .milliseconds(50), _ holds: () async -> Bool
  ) async throws {
    let start = clock.now
    while await !holds() {
      guard start.duration(to: clock.now) < limit else { throw NeverHeld() }
      try pass(step)
      for _ in 0..<40 { await Task.yield() }
    }
  }

  struct NeverHeld: Error {}

  /// Waits in real time until the workers have taken all free slots, and each has a waiting caller or nothing to do.
  /// Advancing time then wastes no slots of the budget because of a slow machine.
  func waitForWorkers(_ workers: [Worker], patience: Duration = .milliseconds(300)) async {
    let end = ContinuousClock.now + patience
    // A task that time has woken takes a free slot, so it has to run first.
    for _ in 0..<50 { await Task.yield() }
    for worker in workers {
      while ContinuousClock.now < end {
        if !worker.isTurnOpen {
          if worker.callersInLine > 0 { break }
          if await worker.isAtRest { break }
        }
        await Task.yield()
      }
    }
  }

  /// Waits until all records are read and no work is in progress.
  func settle(_ workers: [Worker]) async throws {
    let end = ContinuousClock.now + .seconds(120)
    for worker in workers {
      while await !worker.isAtRest {
        guard ContinuousClock.now < end else { throw NeverHeld() }
        // Slots need time to pass.
        if worker.callersInLine > 0 { try pass(.milliseconds(50)) }
        await Task.yield()
      }
    }
  }

  /// The name, id and data of every event.
  func events() throws -> [(name: String, id: String, data: JSONObject)] {
    try log.records(in: topics.events).map { record in
      func text(_ name: String) -> String {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      return (
        String(text("ce_type").dropFirst("dev.millrace.renewal-extensions.".count)), text("ce_id"),
        try JSONObject(parsing: record.value ?? [])
      )
    }
  }

  /// The reason code of every dead letter.
  func deadLetters() -> [String] {
    log.records(in: topics.deadLetters).compactMap { DeadLetter($0.headers)?.reason }
  }
}
