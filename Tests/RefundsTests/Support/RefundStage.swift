// The stage of the refund worker. It runs in real time, a day after the simulation began. Tests deliver what the
// simulator signed, and compare the results with the simulator's state.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTesting
import MillraceTime
import TestSupport

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Refunds

typealias RefundStage = WorkerStage<HastyRefunds, SimulatedExchange>

extension RefundStage {
  static var monthly: String { "com.example.app.monthly" }
  static var coins: String { "com.example.app.coins" }

  /// - Parameters:
  ///   - hasCredentials: Whether the worker can call Apple.
  ///   - sharing: A stage whose App Store this one shares, and so its notifications. The log is its own.
  convenience init(
    lanes: Int = 4, hasCredentials: Bool = true, clock: MillraceClock = .system, sharing other: RefundStage? = nil
  ) throws {
    let products = [Product(productId: Self.monthly), Product(productId: Self.coins, type: .consumable)]
    let store = try other?.store ?? StagedAppStore(products: products, age: .seconds(86_400), clock: clock)
    var policy = RefundsWorker.policy
    // Waits for Apple are short in tests.
    policy.retryDelays = [.milliseconds(100)]
    policy.maximumAttempts = 10_000
    try self.init(store, network: store.exchange, family: .refunds, lanes: lanes, policy: policy) { configuration in
      if !hasCredentials { configuration.apps[0].api = .init() }
      // A budget that never delays a call.
      configuration.appStore.limitDivisor = 0.001
    } topics: { topics in
      topics[RefundsWorker.entitlementsTopic] = 3
      topics[RefundMarks.topic] = 1
    }
  }

  /// Waits until the group has committed all records of its topics.
  func settle() async throws { try await log.waitUntilRead(by: topics.group, topics.sources) }

  /// Waits until every notification was handled once. Some may be delayed.
  func settleInputs() async throws { try await log.waitUntilRead(by: topics.group, topics.inputs) }

  // MARK: - The App Store

  /// The start of the simulation.
  var origin: Timestamp { store.origin }

  /// A new customer buys a product.
  func buy(
    _ product: String = coins, quantity: Int64 = 1, ownership: InAppOwnershipType = .purchased
  ) throws -> Int64 {
    try purchase(product, quantity: quantity, ownership: ownership, at: origin)
  }

  func happens(_ change: (inout WorldState) throws -> Void) throws {
    try world.withState { state in try change(&state) }
  }

  /// The notifications about refunds, from a sequence number on.
  func told(from sequence: Int64 = 0) -> [NotificationLogEntry] {
    let types: Set<NotificationTypeV2> = [.refund, .refundReversed, .refundDeclined, .revoke]
    return entries(from: sequence).filter { types.contains($0.facts.kind.type) }
  }

  // MARK: - The results

  /// The entitlements.
  func table() throws -> [String: JSONObject] { try table(RefundsWorker.entitlementsTopic) }

  func check(_ budget: APIBudget? = nil) throws -> RefundCheck {
    RefundCheck(try client(budget), on: log, prefix: "", clock: clock)
  }
}

extension StagedEvent {
  var transaction: String { data["transactionId"]?.text ?? "" }
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
