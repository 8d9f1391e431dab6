// The simulated App Store, an in-memory log, and any number of refund workers. Tests deliver what the simulator signed,
// and compare the results with the simulator's state.

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
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Refunds

struct RefundStage: Sendable {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let coins = "com.example.app.coins"

  let clock: MillraceClock
  let simulator: Simulator
  let appStore: SimulatedExchange
  let verifier: SignedDataVerifier
  let log: InMemoryLog
  let topics: WorkerTopics
  let configuration: MillraceConfiguration
  private let policy: WorkerPolicy
  private let keyFile: URL

  /// Creates a stage whose simulation began a day ago.
  ///
  /// - Parameters:
  /// - hasCredentials: Whether the worker can call Apple.
  /// - sharing: A stage whose simulator this one shares, and so its notifications. The log is its own.
  init(
    lanes: Int = 4, hasCredentials: Bool = true, clock: MillraceClock = .system, sharing other: RefundStage? = nil
  ) throws {
    self.clock = clock
    if let other {
      (simulator, appStore, verifier, keyFile) = (other.simulator, other.appStore, other.verifier, other.keyFile)
    } else {
      var scenario = try Scenario(
        yaml: """
          apps:
            - bundleId: \(Self.bundleId)
              appAppleId: 1234567890
              environments: [Production]
              notifications: { Production: { url: "http://example.invalid/v2" } }
              products: [{ productId: \(Self.monthly) }, { productId: \(Self.coins), type: consumable }]

          """)
      scenario.origin = clock.wallTime - .seconds(86_400)
      let key = scenario.addMadeKey()
      keyFile = FileManager.default.temporaryDirectory.appending(path: "refunds-\(UUID().uuidString).p8")
      try key.write(to: keyFile, atomically: true, encoding: .utf8)
      simulator = try Simulator(
        scenario, clock: clock, post: { _, _ in PostOutcome(status: 200) }, logger: Self.quiet)
      appStore = SimulatedExchange(simulator.services)
      var verification = SignedDataVerifier.Configuration()
      verification.trustedRoots = [simulator.signer.leaves.rootDER]
      verifier = try SignedDataVerifier(verification)
    }
    var configuration = MillraceConfiguration.calling(
      bundleId: Self.bundleId, key: hasCredentials ? Scenario.madeKey : nil, keyFile: keyFile.path,
      production: SimulatedExchange.productionURL, sandbox: SimulatedExchange.sandboxURL)
    // A budget that never delays a call.
    configuration.appStore.limitDivisor = 0.001
    self.configuration = configuration
    // Waits for Apple are short in tests.
    var policy = RefundsWorker.policy
    policy.retryDelays = [.milliseconds(100)]
    policy.maximumAttempts = 10_000
    self.policy = policy
    topics = WorkerTopics(RefundsWorker.self, configuration, policy)
    log = InMemoryLog(clock: clock)
    for topic in Set(topics.laneTopics) { try log.createTopic(topic, partitions: lanes) }
    for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    try log.createTopic(RefundsWorker.entitlementsTopic, partitions: 3)
    try log.createTopic(RefundMarks.topic, partitions: 1)
  }

  static let quiet = Logger(label: "refunds") { _ in SwiftLogNoOpLogHandler() }

  /// Removes the key's file.
  func tearDown() throws { try FileManager.default.removeItem(at: keyFile) }

  // MARK: - Workers

  /// Runs workers concurrently with `body`.
  func running(_ workers: Int = 1, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await running(HastyRefunds.self, workers, body)
  }

  /// Runs workers of any type concurrently with `body`.
  func running<Worker: NotificationWorker>(
    _ type: Worker.Type, _ workers: Int = 1, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    var runtimes: [WorkerRuntime] = []
    for number in 0..<workers {
      runtimes.append(
        try await WorkerProcess.runtime(
          type, configuration, policy, log: log.process("worker-\(number)"), exchange: appStore,
          metrics: NOOPMetricsHandler.instance, verifier: verifier, instance: "\(number)", clock: clock,
          logger: Self.quiet))
    }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for runtime in runtimes {
        group.addTask {
          try await runtime.run()
          return false
        }
      }
      group.addTask {
        try await body()
        return true
      }
      while let isBody = try await group.next() {
        if isBody { group.cancelAll() }
      }
    }
  }

  /// Waits until the group has committed all records of its topics.
  func settle() async throws { try await log.waitUntilRead(by: topics.group, topics.sources) }

  /// Waits until every notification was handled once. Some may be delayed.
  func settleInputs() async throws { try await log.waitUntilRead(by: topics.group, topics.inputs) }

  // MARK: - What came out

  struct Event: Sendable {
    var id: String
    var name: String
    var data: JSONObject
    var supersedes: String?

    var transaction: String { data["transactionId"]?.text ?? "" }
  }

  func events() throws -> [Event] {
    try log.records(in: topics.events).map { record in
      func header(_ name: String) -> String? {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
      }
      let prefix = "dev.millrace.refunds."
      return Event(
        id: header("ce_id") ?? "", name: String((header("ce_type") ?? "").dropFirst(prefix.count)),
        data: try JSONObject(parsing: record.value ?? []), supersedes: header("ce_supersedes"))
    }
  }

  /// The table as a consumer sees it after reading the whole topic.
  func table() throws -> [String: JSONObject] {
    var rows: [String: JSONObject] = [:]
    for record in log.records(in: RefundsWorker.entitlementsTopic) {
      rows[String(decoding: record.key ?? [], as: UTF8.self)] = try record.value.map { try JSONObject(parsing: $0) }
    }
    return rows
  }

  func deadLetters() -> [DeadLetter] { log.records(in: topics.deadLetters).compactMap { DeadLetter($0.headers) } }
}

/// The worker with short retry delays for outdated answers.
struct HastyRefunds: NotificationWorker {
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let outputTopics = RefundsWorker.outputTopics

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup, patience: HintPatience(waits: [.zero])) }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    try await worker.handle(notification, in: context)
  }
}

/// The worker an hour later, when Apple's answers are up to date.
struct LateRefunds: NotificationWorker {
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let outputTopics = RefundsWorker.outputTopics

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup, patience: HintPatience(time: .zero)) }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    try await worker.handle(notification, in: context)
  }
}
