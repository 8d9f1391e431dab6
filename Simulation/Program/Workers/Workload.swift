// The workers of the product as the handlers of a fleet. A workload posts the notifications of its worker, does what the
// worker asks of Apple, and knows what has to come out.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import PlantedWorker

/// A worker of the product.
enum WorkerKind: String, Sendable, CaseIterable {
  case refunds
  case renewalExtensions = "renewal-extensions"
  case consumption, subscriptions, http, decoder

  func workload(_ plan: Plan, _ apple: AppleModel) -> any Workload {
    switch self {
    case .refunds: RefundsWorkload(plan, apple)
    case .renewalExtensions: ExtensionsWorkload(plan, apple)
    case .consumption: ConsumptionWorkload(plan, apple)
    case .subscriptions: SubscriptionsWorkload(plan, apple)
    case .http: HTTPWorkload(plan, apple)
    case .decoder: DecoderWorkload(plan, apple)
    }
  }
}

protocol Workload: AnyObject, Sendable {
  var apple: AppleModel { get }
  /// The families that the worker reads, its other topics and its policy.
  var families: Set<NotificationFamily> { get }
  var outputTopics: Set<String> { get }
  var policy: WorkerPolicy { get }
  /// The family whose topic a plan can create again.
  var family: NotificationFamily { get }
  /// The records that exist before the first process starts, and the topics of such records.
  var tables: Set<String> { get }
  func prepare(at now: Timestamp) -> [ProducerRecord]

  /// Returns the records that appear when Apple posts a notification. The last one is the notification.
  func post(_ number: Int, at now: Timestamp) throws -> [ProducerRecord]
  /// Does what a call asks of Apple, or of the endpoint of an HTTP worker.
  func answer(to call: AppleCall) throws -> ExchangeAnswer
  /// Whether a record of the key may overtake the notification.
  func isDelayed(_ id: String) -> Bool
  /// Returns what has to happen yet although every notification has its outcome.
  func waiting(_ checker: Checker) -> [String]
  /// Returns the promises that the worker has broken.
  func problems(_ checker: Checker) -> [String]

  func runtime(_ start: ProcessStart) async throws -> WorkerRuntime
}

extension Workload {
  var tables: Set<String> { [] }
  func prepare(at now: Timestamp) -> [ProducerRecord] { [] }
  func waiting(_ checker: Checker) -> [String] { [] }
}

/// The parts with which a process of a worker starts.
struct ProcessStart: Sendable {
  var policy: WorkerPolicy
  var commit: KafkaSettings.Commit
  var log: SimulatedLog
  var exchange: AppleExchange
  /// The static member name; nil for a dynamic member.
  var staticMember: String?
  var instance: String
  var logger: Logger

  /// Creates the runtime as the worker's process does.
  func runtime<Worker: NotificationWorker>(
    _ type: Worker.Type, as identity: WorkerIdentity? = nil, _ apple: AppleModel,
    workers: [String: WorkerEntry] = [:], settings: (any WorkerSettings)? = nil
  ) async throws -> WorkerRuntime {
    var configuration = apple.configuration
    configuration.workers = workers
    configuration.kafka.commit = commit
    configuration.kafka.instance = staticMember
    return try await WorkerProcess.runtime(
      type, as: identity, configuration, policy, log: log, exchange: exchange,
      metrics: PrometheusRegistry(describing: WorkerMetrics.helpTexts),
      verifier: apple.verifier, credentials: apple.credentials, instance: instance, settings: settings,
      clock: .ofSimulation, logger: logger)
  }
}
