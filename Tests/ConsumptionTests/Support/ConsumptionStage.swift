// A deployment inside a test: the simulated App Store, a team's own system, an in-memory log, the real worker runtime,
// and virtual time. Notifications go from the simulator to the log as the ingress would write them.

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
import Testing

@testable import AppStoreSimulator
@testable import Consumption
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

struct ConsumptionStage: Sendable {
  static let bundleId = "com.example.app"
  static let coins = "com.example.app.coins"
  static let premium = "com.example.app.premium"
  static let level = "com.example.app.level"
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  let time = ManualClock()
  let world: World
  let services: APIServices
  let apple: SimulatedExchange
  let team = TeamSystem()
  let log: InMemoryLog
  let topics: WorkerTopics
  let configuration: MillraceConfiguration
  let policy: WorkerPolicy
  private let signer: NotificationSigner
  private let settings: ConsumptionSettings
  private let verifier: SignedDataVerifier
  private let router: NotificationRouter
  private let directory: URL

  var clock: MillraceClock { time.clock }
  var now: Timestamp { time.clock.wallTime }

  init(lanes: Int = 2, seed: UInt64 = 1, _ change: (inout ConsumptionSettings) -> Void = { _ in }) throws {
    var simulator = SimulatorSettings()
    simulator.seed = seed
    let store = try StagedAppStore(
      bundleId: Self.bundleId,
      products: [
        Product(productId: Self.coins, type: .consumable), Product(productId: Self.premium),
        Product(productId: Self.level, type: .nonConsumable),
      ], settings: simulator, clock: time.clock)
    (world, services, signer) = (store.world, store.services, store.signer)
    apple = SimulatedExchange(services)
    world.withState { $0.hasPostman = true }
    verifier = try store.verifier()
    router = try NotificationRouter([
      TopicDefinition(
        name: NotificationFamily.consumptionRequests.topic,
        notifications: .init(v2: [.consumptionRequest], v1: [.consumptionRequest])),
      TopicDefinition(name: NotificationFamily.unrecognized.topic, notifications: .init(unrecognized: true)),
    ])
    directory = FileManager.default.temporaryDirectory.appending(path: "consumption-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(store.privateKey.utf8).write(to: directory.appending(path: "key.p8"))
    try Data(Self.secret.utf8).write(to: directory.appending(path: "secret"))
    configuration = Self.configuration(directory)
    var settings = ConsumptionSettings()
    settings.providers = [.http]
    settings.http.url = TeamSystem.url
    settings.http.secretFiles = [directory.appending(path: "secret").path]
    change(&settings)
    self.settings = settings
    var policy = ConsumptionWorker.policy
    policy.commitInterval = .zero
    self.policy = policy
    topics = WorkerTopics(ConsumptionWorker.self, configuration, policy)
    log = InMemoryLog(clock: time.clock)
    for name in topics.laneTopics { try log.createTopic(name, partitions: lanes) }
    for name in topics.others { try log.createTopic(name, partitions: 1) }
    // Deliberately not the number of lanes: a team's answers have other keys.
    try log.createTopic(ConsumptionSettings.answersTopic, partitions: 3)
  }

  /// Removes the secret's file.
  func tearDown() throws { try FileManager.default.removeItem(at: directory) }

  private static func configuration(_ directory: URL) -> MillraceConfiguration {
    var configuration = MillraceConfiguration.calling(
      bundleId: bundleId, key: Scenario.madeKey, keyFile: directory.appending(path: "key.p8").path,
      production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL)
    // A step of time can be longer than the timeout of a transaction.
    configuration.kafka.commit = .atLeastOnce
    return configuration
  }
}

// Customers and Apple.
extension ConsumptionStage {
  /// Buys a product.
  func buy(_ product: String = coins, token: String? = nil) throws -> Int64 {
    let now = now
    let token = try token.map { try #require(CompactUUID($0)) }
    return try world.withState { state in
      let realm = try #require(state.realm(bundleId: Self.bundleId, environment: .production))
      let customer = try state.addCustomer(to: realm, at: now)
      return try state.purchase(product, by: customer, appAccountToken: token, at: now)
    }
  }

  /// Requests a refund. Apple has not posted a notification yet.
  func askBack(_ id: Int64, _ reason: ConsumptionRequestReason = .unintendedPurchase) throws {
    try services.customerAsksForRefund(of: id, reason: reason, at: now)
  }

  /// Returns Apple's pending consumption notifications as records.
  func told(version1: Bool = false) throws -> [ProducerRecord] {
    let subjects = world.withState { state in
      let found = state.outbox.compactMap { id -> (NotificationSubject, SubjectV1?)? in
        guard let record = state.realms[id.realm].log[id.sequence], record.facts.kind.type == .consumptionRequest else {
          return nil
        }
        return (state.subject(of: record), version1 ? state.subjectV1(of: record) : nil)
      }
      state.outbox.removeAll()
      return found
    }
    return try subjects.map { subject, older in
      if let older { return try v1(older.body(.consumptionRequest)) }
      return try StagedAppStore.received(Array(try signer.signedPayload(subject).utf8), router: router)
        .producerRecord
    }
  }

  func v1(_ body: [UInt8]) throws -> ProducerRecord {
    NotificationRecord.v1(
      value: body, body: try ResponseBodyV1(parsing: body), bundleId: Self.bundleId, receivedAt: now, origin: .post,
      traceParent: nil, router: router
    ).producerRecord
  }

  /// Writes Apple's pending notifications to the log.
  func deliver(version1: Bool = false) throws {
    for record in try told(version1: version1) { try log.append(record) }
  }

  /// Writes a team's stored answer to the answers topic.
  func write(_ answer: String?, for key: String) throws {
    try log.append(
      ProducerRecord(
        topic: ConsumptionSettings.answersTopic, key: Array(key.utf8), value: answer.map { Array($0.utf8) }))
  }

  /// Sends all records to the worker again, as an operator's replay does.
  func replay(reapply: Bool) throws {
    for record in log.records(in: topics.inputs[0]) {
      try log.append(
        ProducerRecord(
          topic: topics.replay, partition: record.partition, key: record.key, value: record.value,
          headers: record.headers + [
            RecordHeader("ce_replayid", "again"), RecordHeader("millrace-replay-mode", reapply ? "reapply" : "plain"),
            RecordHeader("millrace-first-timestamp", String(record.timestamp ?? 0)),
          ]))
    }
  }

  /// The number of calls of Send Consumption Information, in either version.
  var calls: Int {
    apple.calls(to: "PUT /inApps/v2/transactions/consumption")
      + apple.calls(to: "PUT /inApps/v1/transactions/consumption")
  }

  /// Injects a fault for `length` of the test's time, which also passes until the workers have their lanes. A short
  /// fault therefore begins inside ``running(_:logger:metrics:_:)``.
  func fault(_ effect: FaultEffect, from: Duration = .zero, for length: Duration, share: Double = 1) {
    services.inject(
      Fault(
        effect, endpoints: [.sendConsumptionInformation, .sendConsumptionInformationV1], from: now + from,
        until: now + from + length, share: share))
  }
}

// Workers and time.
extension ConsumptionStage {
  /// Runs workers concurrently with `body`.
  func running(
    _ workers: Int = 1, logger: Logger = Logger(label: "consumption") { _ in SwiftLogNoOpLogHandler() },
    metrics: any MetricsFactory = NOOPMetricsHandler.instance,
    _ body: @escaping @Sendable ([WorkerRuntime]) async throws -> Void
  ) async throws {
    var runtimes: [WorkerRuntime] = []
    for number in 0..<workers {
      runtimes.append(
        try await WorkerProcess.runtime(
          ConsumptionWorker.self, configuration, policy, log: log.process("worker-\(number)"),
          exchange: Switchboard(team: team, apple: apple, clock: clock), metrics: metrics, verifier: verifier,
          instance: "\(number)", settings: settings, clock: clock, logger: logger))
    }
    let started = runtimes
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for runtime in started {
        group.addTask {
          try await runtime.run()
          return false
        }
      }
      group.addTask {
        try await ready(started)
        try await body(started)
        return true
      }
      while let isBody = try await group.next() {
        if isBody { group.cancelAll() }
      }
    }
  }

  /// Advances time until every worker has its lanes, because group rebalances need time to pass.
  private func ready(_ workers: [WorkerRuntime]) async throws {
    try await holds {
      workers.allSatisfy { $0.readiness.isReady }
    } meanwhile: {
      time.advance(by: .milliseconds(100))
    }
    try await calm(workers)
  }

  /// Waits until all records are read and every handler waits for virtual time. Virtual time must not advance while the
  /// machine is busy, or time limits would end calls that make progress.
  func calm(_ workers: [WorkerRuntime]) async throws {
    try await holds {
      var handlers = 0
      for worker in workers {
        guard let rest = await worker.rest(), rest.isStill, isRead(rest) else { return false }
        handlers += rest.handlers
      }
      return handlers == team.asleep(at: clock.now)
    }
  }

  private func isRead(_ rest: WorkerRest) -> Bool {
    rest.taken.allSatisfy { partition, offset in log.readableEnd(of: partition) <= offset }
  }

  private func holds(
    _ condition: () async -> Bool, meanwhile: () -> Void = {}
  ) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while await !condition() {
      guard ContinuousClock.now < end else { throw NeverHeld() }
      meanwhile()
      for _ in 0..<20 { await Task.yield() }
    }
  }

  struct NeverHeld: Error {}

  /// Advances time in steps, and lets the workers settle after each.
  func pass(
    _ duration: Duration, step: Duration = .seconds(60), _ workers: [WorkerRuntime],
    each: () throws -> Void = {}
  ) async throws {
    let end = clock.now.advanced(by: duration)
    while clock.now < end {
      // Rate-limit slots and slow answers follow each other.
      let isWaiting = team.asleep(at: clock.now) > 0 || workers.contains { $0.callersInLine > 0 }
      let next = isWaiting ? min(step, .milliseconds(500)) : step
      time.advance(by: min(next, clock.now.duration(to: end)))
      try world.run(until: now)
      try each()
      try await calm(workers)
    }
  }
}

extension WorkerRuntime {
  /// The number of callers that wait for a rate-limit slot.
  var callersInLine: Int {
    Int(
      collectors.filter { $0.name == "millrace_api_callers_waiting" }.flatMap { $0.collect() }
        .reduce(0) { $0 + $1.value })
  }
}

// Results.
extension ConsumptionStage {
  struct Event: Sendable {
    var id: String
    var name: String
    var at: Timestamp
    var data: JSONObject

    var notification: String { purchase?["notificationUUID"]?.text ?? "" }
    var transaction: String { purchase?["transactionId"]?.text ?? "" }
    private var purchase: JSONObject? { if case .object(let purchase)? = data["purchase"] { purchase } else { nil } }
  }

  func events() throws -> [Event] {
    try log.records(in: topics.events).map { record in
      func header(_ name: String) -> String {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      return Event(
        id: header("ce_id"), name: String(header("ce_type").dropFirst("dev.millrace.consumption.".count)),
        at: Timestamp(millisecondsSince1970: record.timestamp ?? 0), data: try JSONObject(parsing: record.value ?? []))
    }
  }

  /// Whether the ledger contains an answer of the team.
  var keepsAnswers: Bool {
    let values = log.records(in: topics.ledger).reduce(into: [[UInt8]?: [UInt8]]()) { $0[$1.key] = $1.value }
    return values.values.contains { String(decoding: $0, as: UTF8.self).contains("deliveryStatus") }
  }

  func deadLetters() -> [DeadLetter] { log.records(in: topics.deadLetters).compactMap { DeadLetter($0.headers) } }

  /// Checks what must hold after every run.
  func checkEvents(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let events = try events()
    #expect(Set(events.map(\.id)).count == events.count, "an event is there twice", sourceLocation: sourceLocation)
    for event in events {
      let problems = try SchemaCheck(event.name).problems(.object(event.data))
      #expect(problems.isEmpty, "\(event.name): \(problems)", sourceLocation: sourceLocation)
    }
  }
}
