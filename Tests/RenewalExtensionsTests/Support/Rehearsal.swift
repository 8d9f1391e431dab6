// The stage of the renewal-extensions worker. Tests start campaigns, let Apple's extensions fail, and compare what the
// worker did with the simulator's state.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Operations
@testable import RenewalExtensions

typealias Rehearsal = WorkerStage<RenewalExtensionsWorker, SimulatedExchange>

extension Rehearsal {
  static var monthly: String { "com.example.app.monthly" }

  /// - Parameters:
  ///   - missing: A topic that the cluster does not have.
  ///   - workers: Additional workers next to the default one, with their entries in the configuration.
  convenience init(
    lanes: Int = 2, seed: UInt64 = 1, without missing: String? = nil, workers: [String: WorkerEntry] = [:],
    limitDivisor: Double = 1, _ change: (inout SimulatorSettings) -> Void = { _ in }
  ) throws {
    var settings = SimulatorSettings()
    settings.requestMemory = .successes
    settings.seed = seed
    change(&settings)
    let store = try StagedAppStore(products: [Product(productId: Self.monthly)], settings: settings)
    try self.init(store, network: store.exchange, family: .renewalExtensions, lanes: lanes) { configuration in
      configuration.workers = workers
      configuration.appStore.limitDivisor = limitDivisor
    } topics: { topics in
      for worker in workers.keys where worker != RenewalExtensionsWorker.name {
        let own = WorkerTopics(
          worker: worker, inputs: [String](), delays: RenewalExtensionsWorker.policy.retryDelays, prefix: "")
        for name in own.laneTopics { topics[name] = lanes }
        topics[own.events] = 1
      }
      if let missing { topics[missing] = nil }
    }
  }
}

// Time and notifications.
extension Rehearsal {
  /// Advances time. Runs due events of the simulation and writes their notifications to the log.
  func pass(_ duration: Duration, duplicates: Int = 0) throws {
    try passTime(duration)
    try deliver(duplicates: duplicates)
  }

  /// Writes pending notifications to the log. Every n-th is written twice if `duplicates` is n.
  func deliver(duplicates: Int = 0) throws {
    for (number, entry) in takePending().enumerated() {
      guard [.renewalExtended, .renewalExtension].contains(entry.facts.kind.type) else { continue }
      let record = try v2(entry)
      try log.append(record)
      if duplicates > 0, number % duplicates == 0 { try log.append(record) }
    }
  }

  /// Advances time in small steps until a condition holds.
  func passUntil(step: Duration = .milliseconds(50), _ holds: () async -> Bool) async throws {
    try await until(meanwhile: { try pass(step) }, holds)
  }

  /// Waits until all records are read and no work is in progress.
  func settle() async throws {
    try await awaitRest(meanwhile: {
      // Slots need time to pass.
      if living.contains(where: { $0.callersInLine > 0 }) { try pass(.milliseconds(50)) }
    })
  }

  /// Waits in real time until the workers have taken all free slots, and each has a waiting caller or nothing to do.
  /// Advancing time then wastes no slots of the budget because of a slow machine.
  func waitForWorkers(patience: Duration = .milliseconds(300)) async {
    let end = ContinuousClock.now + patience
    // A task that time has woken takes a free slot, so it has to run first.
    for _ in 0..<50 { await Task.yield() }
    for worker in living {
      while ContinuousClock.now < end {
        if !worker.isTurnOpen {
          if worker.callersInLine > 0 { break }
          if await worker.isAtRest { break }
        }
        await Task.yield()
      }
    }
  }
}

// Customers and their subscriptions.
extension Rehearsal {
  /// Creates customers with the monthly plan, and returns their subscriptions.
  /// - Parameter sharing: The number of family members per subscription, whose transactions are not returned.
  func subscribe(_ count: Int, family: Bool = false, sharing: Int = 0) throws -> [Int64] {
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
  var extensionCalls: Int { appStore.calls(to: "PUT /inApps/v1/subscriptions/extend") }

  func inject(_ fault: Fault) { services.inject(fault) }
}

// Campaigns.
extension Rehearsal {
  var campaigns: CampaignLog { CampaignLog(on: log, prefix: "") }

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

  /// The progress of a campaign from the worker's lanes.
  func progress(of campaign: Campaign) async throws -> CampaignProgress {
    CampaignProgress(
      try await LedgerTally.read(topics, in: log, prefixes: CampaignProgress.prefixes(of: campaign.id)),
      of: campaign.id)
  }
}

struct NotAccepted: Error {}

// The budget of a process for extensions.
extension StagedProcess {
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
}
