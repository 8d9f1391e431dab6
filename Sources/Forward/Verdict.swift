// What a receiver's answer means.

/// What follows from an answer.
enum Verdict: Sendable, Hashable {
  /// The receiver has it.
  case taken
  /// Trying again may help; counted as `code`. Without a delay, as the worker's schedule says.
  case later(code: String, after: Duration?)
  /// The receiver does not want it, or stands elsewhere.
  case refused

  /// A receiver that asks for more than this is asked sooner.
  static let longestDelay = Duration.seconds(21_600)

  /// - Parameter retryAfter: `Retry-After`, of which seconds are understood and dates are not.
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
