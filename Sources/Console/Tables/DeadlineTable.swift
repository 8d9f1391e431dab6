// Consumption requests that wait for an answer: Apple takes it for twelve hours. A value: time is a parameter.

internal import AppStore

/// Requests that came, less those that an event ended.
struct DeadlineTable: Sendable {
  /// One request.
  struct Request: Sendable, Hashable {
    var notification: String
    /// The purchase's first transaction.
    var subject: String
    var bundleId: String?
    /// When Apple stops taking an answer, as planned: twelve hours after it signed the request.
    var due: Timestamp
  }

  /// Apple's window (*Send Consumption Information*).
  static let window = Duration.seconds(12 * 3_600)
  static let limit = 20_000

  private var open: [String: Request] = [:]
  /// Requests that an event ended, until they are too old to come again.
  private var ended: [String: Timestamp] = [:]
  private(set) var outcomes: [String: Int] = [:]

  /// A request came; retries of Apple's are the same one.
  mutating func add(_ request: Request, now: Timestamp) {
    guard ended[request.notification] == nil, request.due > now - Self.window, open.count < Self.limit else { return }
    open[request.notification] = request
  }

  /// A worker said how one ended: `consumption.sent` and the like. What only warns ends nothing.
  mutating func end(_ notification: String, event: String, now: Timestamp) {
    guard event != "consumption.at-risk", ended[notification] == nil else { return }
    open[notification] = nil
    outcomes[event, default: 0] += 1
    if ended.count >= Self.limit { ended = ended.filter { $0.value > now - Self.window } }
    if ended.count < Self.limit { ended[notification] = now }
  }

  /// What is open, the next to be due first.
  var requests: [Request] { open.values.sorted { ($0.due, $0.notification) < ($1.due, $1.notification) } }
}
