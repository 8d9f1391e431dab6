// The metrics of the ingress. Labels come from closed sets, so that clients cannot create new time series.

internal import HTTPTypes
internal import AppStore
internal import AppStoreSignature
internal import Metrics
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// The ingress's metrics; `docs/ingress.md` explains each.
struct IngressMetrics: Sendable {
  private let factory: any MetricsFactory
  private let accepted: [NotificationVersion: [String: Counter]]
  private let apps: [AppSource: Counter]
  private let duration: Metrics.Timer
  private let acknowledgement: Metrics.Timer
  private let inFlight: Gauge
  /// The counts for the report of the process.
  let refusals = RefusalCounts()

  /// - Parameter apps: The configured apps. Their counters start at 0, so that apps without notifications are visible.
  init(factory: any MetricsFactory, apps: [AppSettings] = []) {
    self.factory = factory
    let sources = apps.flatMap { app in
      app.environments.map { AppSource(bundleId: app.bundleId, environment: $0.rawValue) }
    }
    self.apps = Dictionary(
      sources.map { source in
        let counter = Counter(
          label: "millrace_ingress_app_accepted_total",
          dimensions: [("app", source.bundleId), ("environment", source.environment)], factory: factory)
        counter.increment(by: 0)
        return (source, counter)
      }, uniquingKeysWith: { first, _ in first })
    var accepted: [NotificationVersion: [String: Counter]] = [:]
    for version in NotificationVersion.allCases {
      for type in version.typeLabels {
        accepted[version, default: [:]][type] = Counter(
          label: "millrace_ingress_accepted_total", dimensions: [("version", version.rawValue), ("type", type)],
          factory: factory)
      }
    }
    self.accepted = accepted
    duration = Timer(label: "millrace_ingress_request_duration_seconds", dimensions: [], factory: factory)
    acknowledgement = Timer(
      label: "millrace_ingress_acknowledgement_duration_seconds", dimensions: [], factory: factory)
    inFlight = Gauge(label: "millrace_ingress_requests_in_flight", dimensions: [], factory: factory)
  }

  static let helpTexts = [
    ("millrace_ingress_accepted_total", "Notifications that Kafka acknowledged and the ingress answered 200."),
    (
      "millrace_ingress_app_accepted_total",
      "Accepted notifications by app and environment. Every configured app starts at 0."
    ),
    ("millrace_ingress_refused_total", "Requests not answered 200, by reason and status."),
    (
      "millrace_ingress_quarantined_total",
      "Refused bodies that may be genuine, by outcome of the copy to the quarantine."
    ),
    ("millrace_ingress_slow_clients_total", "Connections closed because a head or body took too long."),
    ("millrace_ingress_request_duration_seconds", "Time from the end of a request's head to its response, in seconds."),
    (
      "millrace_ingress_acknowledgement_duration_seconds", "Time from the write to Kafka's acknowledgement, in seconds."
    ),
    ("millrace_ingress_requests_in_flight", "Requests that are being verified or written."),
  ]

  func accept(_ version: NotificationVersion, _ notification: AdmittedNotification) {
    accepted[version]?[notification.typeLabel]?.increment()
    if let source = notification.source { apps[source]?.increment() }
  }

  func refuse(_ version: NotificationVersion?, _ refused: RefusedRequest) {
    // In real time, like the records of the report.
    refusals.add(refused.label, at: MillraceClock.system.wallTime)
    count(
      "millrace_ingress_refused_total",
      [
        ("version", version?.rawValue ?? "none"), ("reason", refused.label),
        ("status", String(refused.problem.status.code)),
      ])
  }

  func quarantine(_ outcome: QuarantineOutcome) {
    count("millrace_ingress_quarantined_total", [("outcome", outcome.rawValue)])
  }

  func slowClient(_ part: ConnectionGuard.SlowPart) {
    count("millrace_ingress_slow_clients_total", [("part", part.rawValue)])
  }

  func observe(request: Duration, inFlight current: Int) {
    duration.recordNanoseconds(request.nanoseconds)
    inFlight.record(current)
  }

  func observe(acknowledgement elapsed: Duration) { acknowledgement.recordNanoseconds(elapsed.nanoseconds) }

  /// Increments a counter without caching it, because refusals are rare or need not be fast.
  private func count(_ label: String, _ dimensions: [(String, String)]) {
    Counter(label: label, dimensions: dimensions, factory: factory).increment()
  }
}

/// The app and environment of a notification, for labels.
struct AppSource: Sendable, Hashable {
  var bundleId: String
  var environment: String
}

extension AdmittedNotification {
  /// The app and environment; nil if the notification does not name both.
  fileprivate var source: AppSource? {
    let (bundleId, environment): (String?, AppStoreEnvironment?) =
      switch self {
      case .v2(let verified, _): (verified.payload.bundleId, verified.payload.environment)
      case .v1(let body, _, let bundleId, _): (bundleId, body.appStoreEnvironment)
      }
    guard let bundleId, let environment else { return nil }
    return AppSource(bundleId: bundleId, environment: environment.rawValue)
  }
}

extension NotificationVersion {
  var typeLabels: [String] {
    let known =
      switch self {
      case .v1: NotificationTypeV1.allKnown.map(\.rawValue)
      case .v2: NotificationTypeV2.allKnown.map(\.rawValue)
      }
    return known + [AdmittedNotification.unknownTypeLabel]
  }
}

extension Duration {
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
