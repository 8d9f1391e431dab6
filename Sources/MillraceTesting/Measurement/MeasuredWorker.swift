// The worker that `scripts/bench consume` measures: the production runtime on a log of the benchmark, with or without
// verification. It is in the test kit because no worker process links the test kit. So no configuration of a worker can
// turn off verification.

internal import AppStore
public import AppStoreServerAPI
public import AppStoreSignature
public import MillraceTime
internal import KafkaClient
public import Logging
public import MillraceCore
public import MillraceRecords
public import MillraceWorker

/// The runtime of one worker, for measurements.
@_spi(Measurement) public struct MeasuredWorker: Sendable {
  private let runtime: WorkerRuntime
  private let registry = PrometheusRegistry()

  /// - Parameters:
  ///   - verifier: The verifier; nil skips verification, and handlers get only what the headers contain.
  ///   - appStore: Answers API calls of the configured apps; nil answers none.
  public init<Worker: NotificationWorker>(
    _ type: Worker.Type, _ configuration: MillraceConfiguration, _ policy: WorkerPolicy, log: any RecordLog,
    verifier: SignedDataVerifier?, appStore: (any HTTPExchange)? = nil, clock: MillraceClock = .system, logger: Logger
  ) async throws {
    var credentials: [String: APICredentials] = [:]
    if appStore != nil {
      let chain = try NotificationFixtures(from: clock.wallTime, seed: 1).chain
      for app in configuration.apps { credentials[app.bundleId] = try .harness(of: app.bundleId, chain) }
    }
    // Metrics are recorded as in production, because their cost is part of a worker's cost.
    runtime = try await WorkerProcess.runtime(
      type, configuration, policy, log: log, exchange: appStore ?? NoAppStore(), metrics: registry,
      verifier: try verifier ?? SignedDataVerifier(SignedDataVerifier.Configuration()),
      decoder: verifier == nil ? try HeadersOnly() : nil, credentials: credentials, clock: clock, logger: logger)
  }

  /// Runs the worker until cancelled.
  public func run() async throws { try await runtime.run() }

  /// Whether the worker owns lanes.
  public var hasLanes: Bool { runtime.readiness.owned > 0 }

  /// Whether the worker owns lanes and all of them run.
  public var isReady: Bool { runtime.readiness.isReady && hasLanes }

  /// Whether everything that the worker has taken is committed.
  public func isQuiet() async -> Bool { await runtime.rest()?.isQuiet ?? false }

  /// The worker's metrics in the Prometheus text format.
  public var metrics: String { registry.render() }
}

/// Decodes the headers and ignores the value.
private struct HeadersOnly: NotificationDecoding {
  private let content: AppStoreNotification.Content

  init() throws { content = .v1(try ResponseBodyV1(parsing: Array("{}".utf8))) }

  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, history: DeliveryHistory
  ) async throws(UndecodableRecord) -> AppStoreNotification {
    let id = envelope.id ?? ""
    return AppStoreNotification(
      id: id,
      event: NotificationEvent(envelope.notificationType.map { NotificationTypeV2(rawValue: $0) }, envelope.subtype),
      content: content, key: envelope.subject ?? id, bundleId: envelope.bundleId, environment: envelope.environment,
      signedDate: envelope.time, bytes: record.value ?? [], history: history, traceParent: envelope.traceParent)
  }
}
