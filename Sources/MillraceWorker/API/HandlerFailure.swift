// Errors that a handler can throw, and how the worker treats each.

public import AppStore

/// An error that tells the worker what to do with the notification.
///
/// The worker retries after any other error with growing delays. When the attempts are exhausted, the notification
/// becomes a dead letter.
public protocol ClassifiedFailure: Error {
  /// The action that the worker takes.
  var disposition: FailureDisposition { get }
  /// The stable code under which retries are counted: lower case with hyphens, from a closed set. Nil means
  /// `handler-error`.
  var code: String? { get }
}

extension ClassifiedFailure {
  /// The default, which counts as `handler-error`.
  public var code: String? { nil }
}

/// The action that the worker takes after a handler has failed.
public enum FailureDisposition: Sendable, Hashable {
  /// Retry after this delay.
  case retry(after: Duration)
  /// Retry at this time.
  case retryAt(Timestamp)
  /// Run the handler again at this time. Nothing failed, so the run does not count as an attempt.
  case wait(until: Timestamp)
  /// Retry after the next delay of the retry schedule.
  case retryBySchedule
  /// Do not retry. The notification becomes a dead letter with this reason code.
  case deadLetter(reason: String)
}

/// An error that a handler throws if a retry may help.
public struct RetryableFailure: ClassifiedFailure, CustomStringConvertible {
  /// The description of the failure.
  public var description: String
  /// The delay before the retry. Nil means the next delay of the retry schedule.
  public var delay: Duration?
  /// The stable code under which the retry is counted.
  public var code: String?

  /// Creates a failure that may be temporary.
  public init(_ description: String, after delay: Duration? = nil, code: String? = nil) {
    self.description = description
    self.delay = delay
    self.code = code
  }

  /// Retry, after ``delay`` or as the retry schedule says.
  public var disposition: FailureDisposition { delay.map { .retry(after: $0) } ?? .retryBySchedule }
}

/// An error that a handler throws if a retry cannot help. The notification becomes a dead letter.
public struct PermanentFailure: ClassifiedFailure, CustomStringConvertible {
  /// The stable reason code of the dead letter.
  public var reason: String
  /// The failure, and the action that the operator should take.
  public var description: String

  /// Creates a failure that a retry cannot fix.
  public init(_ reason: String, _ description: String) {
    self.reason = reason
    self.description = description
  }

  /// Move the notification to the dead letters.
  public var disposition: FailureDisposition { .deadLetter(reason: reason) }
}

extension FailureDisposition {
  /// Returns the action for any error.
  static func of(_ error: any Error) -> FailureDisposition {
    if let classified = error as? any ClassifiedFailure { return classified.disposition }
    return error is EncodingError ? .deadLetter(reason: "event-not-encodable") : .retryBySchedule
  }
}
