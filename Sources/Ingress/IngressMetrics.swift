// What the ingress counts. Labels come from closed sets: nobody outside can make new ones.

internal import HTTPTypes
internal import AppStore
internal import AppStoreSignature
internal import Metrics
internal import Millrace

/// The ingress's metrics; `docs/ingress.md` explains each.
struct IngressMetrics: Sendable {
  private let factory: any MetricsFactory
  private let accepted: [NotificationVersion: [String: Counter]]
  private let apps: [AppSource: Counter]
  private let duration: Metrics.Timer
  private let acknowledgement: Metrics.Timer
  private let inFlight: Gauge

  /// - Parameter apps: The configured ones. Each is counted from 0, so that one that is silent shows.
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
    ("millrace_ingress_accepted_total", "Notifications answered 200: Kafka has them."),
    ("millrace_ingress_app_accepted_total", "The same by app and environment, from 0 for each that is configured."),
    ("millrace_ingress_refused_total", "Requests not answered 200, by reason and status."),
    ("millrace_ingress_quarantined_total", "Refused bodies that may be genuine, by what became of the copy."),
    ("millrace_ingress_slow_clients_total", "Connections closed because a head or body took too long."),
    ("millrace_ingress_request_duration_seconds", "From the end of a request's head to its answer, in seconds."),
    ("millrace_ingress_acknowledgement_duration_seconds", "From the write to Kafka's acknowledgement, in seconds."),
    ("millrace_ingress_requests_in_flight", "Requests whose body is there and whose answer is not."),
  ]

  func accept(_ version: NotificationVersion, _ notification: AdmittedNotification) {
    accepted[version]?[notification.typeLabel]?.increment()
    if let source = notification.source { apps[source]?.increment() }
  }

  func refuse(_ version: NotificationVersion?, _ refused: RefusedRequest) {
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

  /// Not cached: what is refused is rare, or not worth being quick for.
  private func count(_ label: String, _ dimensions: [(String, String)]) {
    Counter(label: label, dimensions: dimensions, factory: factory).increment()
  }
}

/// Whose notification it is, as labels say it.
struct AppSource: Sendable, Hashable {
  var bundleId: String
  var environment: String
}

extension AdmittedNotification {
  /// The app and environment; nil where the notification names none.
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
