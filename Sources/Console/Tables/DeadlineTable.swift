// Consumption requests that wait for an answer, which Apple accepts for twelve hours. A value: time is a parameter.

internal import AppStore

/// Consumption requests without an event that ends them.
struct DeadlineTable: Sendable {
  struct Request: Sendable, Hashable {
    var notification: String
    /// The purchase's first transaction.
    var subject: String
    var bundleId: String?
    /// The planned deadline: twelve hours after Apple signed the request.
    var due: Timestamp
  }

  /// Apple's window (*Send Consumption Information*).
  static let window = Duration.seconds(12 * 3_600)
  static let limit = 20_000

  private var open: [String: Request] = [:]
  /// Requests that an event ended, kept for twelve hours to recognize Apple's retries.
  private var ended: [String: Timestamp] = [:]
  private(set) var outcomes: [String: Int] = [:]

  /// Adds a request. Apple's retries of a notification count as the same request.
  mutating func add(_ request: Request, now: Timestamp) {
    guard ended[request.notification] == nil, request.due > now - Self.window, open.count < Self.limit else { return }
    open[request.notification] = request
  }

  /// Events that end no request: a warning, and the outcome of an answer, which names the notification of a refund.
  private static let others: Set<String> = ["consumption.at-risk", "consumption.outcome"]

  /// Ends a request because of an event such as `consumption.sent`.
  mutating func end(_ notification: String, event: String, now: Timestamp) {
    guard !Self.others.contains(event), ended[notification] == nil else { return }
    open[notification] = nil
    outcomes[event, default: 0] += 1
    if ended.count >= Self.limit { ended = ended.filter { $0.value > now - Self.window } }
    if ended.count < Self.limit { ended[notification] = now }
  }

  /// The open requests, the earliest deadline first.
  var requests: [Request] { open.values.sorted { ($0.due, $0.notification) < ($1.due, $1.notification) } }
}
