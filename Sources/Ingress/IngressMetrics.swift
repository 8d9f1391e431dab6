// What the ingress counts. Labels come from closed sets: nobody outside can make new ones.

internal import HTTPTypes
internal import AppStore
internal import Metrics
internal import Millrace

/// The ingress's metrics; `docs/ingress.md` explains each.
struct IngressMetrics: Sendable {
  private let factory: any MetricsFactory
  private let accepted: [NotificationVersion: [String: Counter]]
  private let duration: Metrics.Timer
  private let acknowledgement: Metrics.Timer
  private let inFlight: Gauge

  init(factory: any MetricsFactory) {
    self.factory = factory
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
    ("millrace_ingress_refused_total", "Requests not answered 200, by reason and status."),
    ("millrace_ingress_quarantined_total", "Refused bodies that may be genuine, by what became of the copy."),
    ("millrace_ingress_slow_clients_total", "Connections closed because a head or body took too long."),
    ("millrace_ingress_request_duration_seconds", "From the end of a request's head to its answer, in seconds."),
    ("millrace_ingress_acknowledgement_duration_seconds", "From the write to Kafka's acknowledgement, in seconds."),
    ("millrace_ingress_requests_in_flight", "Requests whose body is there and whose answer is not."),
  ]

  func accept(_ version: NotificationVersion, type: String) { accepted[version]?[type]?.increment() }

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
