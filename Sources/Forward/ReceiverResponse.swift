// Classifies a receiver's response.

/// The decision about a response.
enum ReceiverResponse: Sendable, Hashable {
  /// The receiver accepted the notification.
  case taken
  /// A retry may succeed; counted as `code`. Without a delay, the worker's retry schedule applies.
  case later(code: String, after: Duration?)
  /// The receiver rejects the notification or redirects.
  case refused

  /// The longest delay that a receiver can request.
  static let longestDelay = Duration.seconds(21_600)

  /// - Parameter retryAfter: The value of `Retry-After` in seconds. Dates are ignored.
  init(status: Int, retryAfter: String?) {
    let delay = retryAfter.flatMap { Int64($0) }.map { min(.seconds(max(0, min($0, 1 << 32))), Self.longestDelay) }
    switch status {
    case 200..<300: self = .taken
    case 408, 425, 429: self = .later(code: "busy", after: delay)
    case 300..<500: self = .refused
    default: self = .later(code: "server-error", after: delay)
    }
  }
}
