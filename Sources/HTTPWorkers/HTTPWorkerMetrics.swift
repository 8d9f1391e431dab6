// The metrics of requests to endpoints. Names and labels are a public interface. A test compares them with
// `docs/metrics.md`.

internal import AppStoreServerAPI
internal import CoreMetrics
internal import Metrics

/// The metrics of one HTTP worker. Label values come from closed sets, so an endpoint adds no series.
struct HTTPWorkerMetrics: Sendable {
  /// The name and help text of every metric.
  static let helpTexts = [
    ("millrace_http_worker_requests_total", "Requests to the endpoint, by kind, outcome and status."),
    ("millrace_http_worker_request_duration_seconds", "Duration of a request to the endpoint, in seconds."),
    ("millrace_http_worker_circuit_open", "Whether the worker holds requests back: 1 or 0."),
    ("millrace_http_worker_requests_waiting", "Handlers that wait for the circuit to close."),
  ]

  private let factory: any MetricsFactory
  private let worker: (String, String)
  private let duration: Metrics.Timer
  private let open: Gauge
  private let waiting: Meter

  init(worker: String, factory: any MetricsFactory) {
    self.factory = factory
    self.worker = ("worker", worker)
    duration = Timer(
      label: "millrace_http_worker_request_duration_seconds", dimensions: [self.worker], factory: factory)
    open = Gauge(label: "millrace_http_worker_circuit_open", dimensions: [self.worker], factory: factory)
    waiting = Meter(label: "millrace_http_worker_requests_waiting", dimensions: [self.worker], factory: factory)
    open.record(0)
    waiting.set(0)
  }

  func ended(_ kind: HandlerRequest.Kind, _ reply: EndpointReply, in time: Duration) {
    ended(kind.rawValue, Self.outcome(reply.answer), status: reply.response?.status, in: time)
  }

  func ended(_ kind: String, _ outcome: String, status: Int?, in time: Duration) {
    duration.record(duration: time)
    Counter(
      label: "millrace_http_worker_requests_total",
      dimensions: [worker, ("kind", kind), ("outcome", outcome), ("status", Self.status(status))], factory: factory
    ).increment()
  }

  func isOpen(_ isOpen: Bool) { open.record(isOpen ? 1 : 0) }
  func beganWaiting() { waiting.increment() }
  func endedWaiting() { waiting.decrement() }

  /// The value of the label `outcome`.
  static func outcome(_ answer: EndpointAnswer) -> String {
    switch answer {
    case .outcome(.results), .nothing: "done"
    case .outcome(.retry): "retry"
    case .outcome(.deadLetter): "dead-letter"
    case .later: "later"
    case .failed: "failed"
    case .refused: "refused"
    case .misconfigured: "misconfigured"
    case .invalid: "invalid"
    }
  }

  /// The value of the label `status`: the statuses of the protocol, the class of any other, or `none`.
  static func status(_ status: Int?) -> String {
    guard let status else { return "none" }
    if [200, 204, 401, 404, 429, 503].contains(status) || EndpointAnswer.refusals.contains(status) {
      return "\(status)"
    }
    return (100...599).contains(status) ? "\(status / 100)xx" : "other"
  }
}
