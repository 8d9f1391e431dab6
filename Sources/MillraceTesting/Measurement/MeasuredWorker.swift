// A worker as `scripts/bench consume` measures it: the product's own runtime over a log of the benchmark's, with
// verification or, to see the lane alone, without. It lives in the test kit because no worker's process links that: what
// leaves verification out is not even in the program, so no configuration reaches it.

internal import AppStore
public import AppStoreServerAPI
public import AppStoreSignature
public import Clocks
internal import Kafka
public import Logging
public import Millrace

/// One worker's runtime, for measurements.
@_spi(Measurement) public struct MeasuredWorker: Sendable {
  private let runtime: WorkerRuntime
  private let registry = PrometheusRegistry()

  /// - Parameters:
  ///   - verifier: nil: values are not looked at; handlers get what the headers say.
  ///   - appStore: Answers the calls of the apps that are configured; nil: none is answered.
  public init<Worker: NotificationWorker>(
    _ type: Worker.Type, _ configuration: MillraceConfiguration, _ policy: WorkerPolicy, log: any RecordLog,
    verifier: SignedDataVerifier?, appStore: (any HTTPExchange)? = nil, clock: MillraceClock = .system, logger: Logger
  ) async throws {
    var credentials: [String: APICredentials] = [:]
    if appStore != nil {
      let chain = try NotificationFixtures(from: clock.wallTime, seed: 1).chain
      for app in configuration.apps { credentials[app.bundleId] = try .harness(of: app.bundleId, chain) }
    }
    // Counted as in production: what metrics cost belongs to what a worker costs.
    runtime = try await WorkerProcess.runtime(
      type, configuration, policy, log: log, exchange: appStore ?? NoAppStore(), metrics: registry,
      verifier: try verifier ?? SignedDataVerifier(SignedDataVerifier.Configuration()),
      decoder: verifier == nil ? try HeadersOnly() : nil, credentials: credentials, clock: clock, logger: logger)
  }

  /// Works until cancelled.
  public func run() async throws { try await runtime.run() }

  /// Whether it was given lanes.
  public var hasLanes: Bool { runtime.readiness.owned > 0 }

  /// Whether it has lanes and all of them run.
  public var isReady: Bool { runtime.readiness.isReady && hasLanes }

  /// Whether everything that was taken is committed.
  public func isQuiet() async -> Bool { await runtime.rest()?.isQuiet ?? false }

  /// What it counted, as Prometheus reads it.
  public var metrics: String { registry.render() }
}

/// Believes the headers and does not look at the value.
private struct HeadersOnly: NotificationDecoding {
  private let content: Notification.Content

  init() throws { content = .v1(try ResponseBodyV1(parsing: Array("{}".utf8))) }

  func decode(
    _ record: ConsumerRecord, envelope: NotificationEnvelope, provenance: Provenance
  ) async throws(UndecodableRecord) -> Notification {
    let id = envelope.id ?? ""
    return Notification(
      id: id,
      event: NotificationEvent(envelope.notificationType.map { NotificationTypeV2(rawValue: $0) }, envelope.subtype),
      content: content, key: envelope.subject ?? id, bundleId: envelope.bundleId, environment: envelope.environment,
      signedDate: envelope.time, bytes: record.value ?? [], provenance: provenance, traceParent: envelope.traceParent)
  }
}
