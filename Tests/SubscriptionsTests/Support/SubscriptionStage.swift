// The simulated App Store, an in-memory log and one worker, all on a clock that the test advances. Tests deliver what the
// simulator signed, and compare the table with the simulator's state.

import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import CoreMetrics
import Foundation
import KafkaClient
import Logging
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Subscriptions

final class SubscriptionStage: Sendable {
  static let bundleId = "com.example.app"

  let time: ManualClock
  let simulator: Simulator
  let appStore: SimulatedExchange
  let log: InMemoryLog
  let topics: WorkerTopics
  private let runtime: WorkerRuntime
  private let configuration: MillraceConfiguration
  private let verifier: SignedDataVerifier
  private let keyFile: URL
  let erasureKey: ErasureKey

  init(hasCredentials: Bool = true, behaviour: Behaviour = Behaviour(), seed: UInt64 = 1) async throws {
    time = ManualClock()
    let clock = time.clock
    var scenario = try Scenario(
      yaml: """
        apps:
          - bundleId: \(Self.bundleId)
            appAppleId: 1234567890
            environments: [Production]
            notifications: { Production: { url: "http://example.invalid/v2" } }
            products:
              - { productId: app.premium, group: plans, level: 1, price: 14990 }
              - { productId: app.basic, group: plans, level: 2, price: 9990, offers: [{ identifier: TRY, type: code, discountType: FREE_TRIAL, period: P1W }] }
              - { productId: app.graceful, group: extras, gracePeriod: 16d, price: 4990 }
              - { productId: app.weekly, group: weekly, period: P1W, price: 990 }
              - { productId: app.coins, type: consumable, price: 990 }
              - { productId: app.lifetime, type: non-consumable, price: 99990 }

        """)
    scenario.origin = clock.wallTime
    scenario.behaviour = behaviour
    scenario.seed = seed
    let key = scenario.addMadeKey()
    keyFile = FileManager.default.temporaryDirectory.appending(path: "subscriptions-\(UUID().uuidString).p8")
    try key.write(to: keyFile, atomically: true, encoding: .utf8)
    let quiet = Logger(label: "subscriptions") { _ in SwiftLogNoOpLogHandler() }
    simulator = try Simulator(scenario, clock: clock, post: { _, _ in PostOutcome(status: 200) }, logger: quiet)
    appStore = SimulatedExchange(simulator.services)
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [simulator.signer.leaves.rootDER]
    var configuration = MillraceConfiguration.calling(
      bundleId: Self.bundleId, key: hasCredentials ? Scenario.madeKey : nil, keyFile: keyFile.path,
      production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL)
    // A budget that never delays a call.
    configuration.appStore.limitDivisor = 0.001
    // Any file of 32 bytes is a secret.
    configuration.privacy.keyFile = keyFile.path
    erasureKey = try #require(try ErasureKey(configuration.privacy))
    var policy = SubscriptionsWorker.policy
    policy.commitInterval = .zero
    topics = WorkerTopics(SubscriptionsWorker.self, configuration, policy)
    self.configuration = configuration
    verifier = try SignedDataVerifier(verification)
    log = InMemoryLog(clock: clock)
    for topic in Set(topics.laneTopics) { try log.createTopic(topic, partitions: 4) }
    for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    for topic in SubscriptionsWorker.outputTopics.subtracting(topics.laneTopics) {
      try log.createTopic(topic, partitions: 4)
    }
    runtime = try await WorkerProcess.runtime(
      SubscriptionsWorker.self, configuration, policy, log: log, exchange: appStore,
      metrics: NOOPMetricsHandler.instance, verifier: verifier, instance: "0", clock: clock,
      logger: quiet)
  }

  /// Runs the worker concurrently with `body`, and checks what it published.
  func running(_ body: @escaping @Sendable (SubscriptionStage) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { [runtime] in
        try await runtime.run()
        return false
      }
      group.addTask {
        try await self.settle()
        try await body(self)
        return true
      }
      while let isBody = try await group.next() {
        if isBody { group.cancelAll() }
      }
    }
    try FileManager.default.removeItem(at: keyFile)
    #expect(log.records(in: topics.deadLetters).compactMap { DeadLetter($0.headers) }.isEmpty)
    try checkSchemas()
  }

  /// A client with a budget that never delays it.
  func client() throws -> AppStoreServerClient {
    let settings = configuration.apps[0]
    return AppStoreServerClient(
      credentials: try #require(try settings.credentials(under: "api")), appAppleId: settings.appAppleId,
      environments: settings.environments,
      baseURLs: APIBaseURLs(production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL),
      verifier: verifier, exchange: appStore, budget: APIBudget(limits: .divided(by: 0.001), clock: time.clock),
      clock: time.clock, logger: Logger(label: "subscriptions") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Waits until the worker has read everything and is idle.
  func settle() async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      if let rest = await runtime.rest(), rest.isQuiet, isRead(rest) { return }
      guard ContinuousClock.now < deadline else { throw HarnessError.restless(after: .seconds(60)) }
      await Task.yield()
    }
  }

  private func isRead(_ rest: WorkerRest) -> Bool {
    topics.sources.allSatisfy { topic in
      Dictionary(grouping: log.records(in: topic), by: \.partition).allSatisfy { partition, records in
        rest.taken[TopicPartition(topic: topic, partition: partition), default: 0] > records.last?.offset ?? -1
      }
    }
  }

  /// Lets time pass for the App Store and the worker.
  func advance(by duration: Duration) async throws {
    time.advance(by: duration)
    try simulator.world.run(until: now)
    try await settle()
  }

  var now: Timestamp { time.clock.wallTime }

  // MARK: - The App Store

  /// Changes the world at the present time.
  func happens<Result: Sendable>(_ change: (inout WorldState, Timestamp) throws -> Result) throws -> Result {
    let now = now
    return try simulator.world.withState { state in try change(&state, now) }
  }

  /// A new customer buys a product.
  func buy(_ product: String) throws -> Int64 {
    try happens { state, now in
      let realm = try #require(state.realm(bundleId: Self.bundleId, environment: .production))
      let customer = try state.addCustomer(to: realm, at: now)
      return try state.purchase(product, by: customer, at: now)
    }
  }

  /// The notifications since the last ones, as the ingress's records.
  func notifications(since sequence: Int64 = -1) throws -> [(sequence: Int64, record: ProducerRecord)] {
    try entries(since: sequence).map { ($0.facts.sequence, try record($0)) }
  }

  func entries(since sequence: Int64 = -1) -> [NotificationLogEntry] {
    simulator.world.withState { state in state.realms[0].log.records.filter { $0.facts.sequence > sequence } }
  }

  func record(_ entry: NotificationLogEntry) throws -> ProducerRecord {
    let subject = simulator.world.withState { $0.subject(of: entry) }
    let jws = Array(try simulator.signer.signedPayload(subject).utf8)
    let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: jws).payload)
    func token(_ text: String?) throws -> JSONObject? {
      try text.map { try UnverifiedToken(parsing: Array($0.utf8)).payload }
    }
    return NotificationRecord.v2(
      jws: jws, payload: payload,
      transaction: try token(payload.data?.signedTransactionInfo).map { JWSTransactionDecodedPayload(json: $0) },
      renewalInfo: try token(payload.data?.signedRenewalInfo).map { JWSRenewalInfoDecodedPayload(json: $0) },
      appTransaction: nil, origin: .post, traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  /// A version 1 body of an event as the ingress's record; nil if version 1 has none.
  func recordV1(_ entry: NotificationLogEntry) throws -> ProducerRecord? {
    guard let bytes = simulator.world.withState({ $0.bodiesV1(of: entry) }).first else { return nil }
    return NotificationRecord.v1(
      value: bytes, body: try ResponseBodyV1(parsing: bytes), bundleId: Self.bundleId, receivedAt: now, origin: .post,
      traceParent: nil, router: try Self.router()
    ).producerRecord
  }

  private static func router() throws -> NotificationRouter {
    try NotificationRouter([
      TopicDefinition(name: NotificationFamily.subscriptions.topic, notifications: .init(unrecognized: true))
    ])
  }

  func deliver(_ records: [ProducerRecord]) async throws {
    for record in records { try log.append(record) }
    try await settle()
  }

  // MARK: - What came out

  func events() throws -> [(name: String, data: JSONObject)] {
    try log.records(in: topics.events).map { record in
      let type = record.headers.last { $0.name == "ce_type" }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
      return (
        String(type.dropFirst("dev.millrace.subscriptions.".count)), try JSONObject(parsing: record.value ?? [])
      )
    }
  }

  /// A table as a consumer sees it after reading the whole topic.
  func table(_ topic: String = SubscriptionsWorker.subscriptionsTopic) throws -> [String: JSONObject] {
    var rows: [String: JSONObject] = [:]
    for record in log.records(in: topic) {
      rows[String(decoding: record.key ?? [], as: UTF8.self)] = try record.value.map { try JSONObject(parsing: $0) }
    }
    return rows
  }

  private func checkSchemas() throws {
    let (subscription, purchase) = (
      try SchemaCheck("subscriptions.subscription"), try SchemaCheck("subscriptions.purchase")
    )
    for event in try events() where event.name != "customer.erased" {
      let schema = event.name.hasPrefix(SubscriptionEvent.prefix) ? subscription : purchase
      #expect(schema.problems(.object(event.data)).isEmpty, "\(event.name) \(event.data)")
    }
    for (id, row) in try table() {
      #expect(try SchemaCheck("appstore.subscriptions").problems(.object(row)).isEmpty, "\(row)")
      #expect(row["originalTransactionId"] == .string(id))
    }
    for (id, row) in try table(SubscriptionsWorker.purchasesTopic) {
      #expect(try SchemaCheck("appstore.purchases").problems(.object(row)).isEmpty, "\(row)")
      #expect(row["transactionId"] == .string(id))
    }
  }
}

extension JSON {
  /// The value of a string; nil for any other value.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
