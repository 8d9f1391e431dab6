// What a thrown error means. A handler throws what its libraries throw; this says what the runtime makes of it.

public import AppStore

/// An error that says itself what is to become of the notification. Errors that do not are retried with growing delays
/// until the schedule ends, then they become dead letters.
public protocol ClassifiedFailure: Error {
  /// What to do.
  var disposition: FailureDisposition { get }
  /// What it is counted as when it is tried again: a stable code, lower case with hyphens, of a closed set; nil:
  /// `handler-error`.
  var code: String? { get }
}

extension ClassifiedFailure {
  /// `handler-error`.
  public var code: String? { nil }
}

/// What to do about a failed handler.
public enum FailureDisposition: Sendable, Hashable {
  /// Again after this time.
  case retry(after: Duration)
  /// Again at this time.
  case retryAt(Timestamp)
  /// Nothing failed: its turn comes at this time. Counts as no attempt.
  case wait(until: Timestamp)
  /// Again, as the schedule says.
  case retryBySchedule
  /// Never again: to the dead letters under this code.
  case deadLetter(reason: String)
}

/// Thrown by a handler: trying again may help.
public struct RetryableFailure: ClassifiedFailure, CustomStringConvertible {
  /// What happened.
  public var description: String
  /// When to try again; nil: as the schedule says.
  public var delay: Duration?
  /// What it is counted as.
  public var code: String?

  /// A failure that may pass.
  public init(_ description: String, after delay: Duration? = nil, code: String? = nil) {
    self.description = description
    self.delay = delay
    self.code = code
  }

  /// Again.
  public var disposition: FailureDisposition { delay.map { .retry(after: $0) } ?? .retryBySchedule }
}

/// Thrown by a handler: trying again will not help.
public struct PermanentFailure: ClassifiedFailure, CustomStringConvertible {
  /// The dead letter's stable code.
  public var reason: String
  /// What happened and what to do.
  public var description: String

  /// A failure that will not pass.
  public init(_ reason: String, _ description: String) {
    self.reason = reason
    self.description = description
  }

  /// To the dead letters.
  public var disposition: FailureDisposition { .deadLetter(reason: reason) }
}

extension FailureDisposition {
  /// What any error means.
  static func of(_ error: any Error) -> FailureDisposition {
    if let classified = error as? any ClassifiedFailure { return classified.disposition }
    return error is EncodingError ? .deadLetter(reason: "event-not-encodable") : .retryBySchedule
  }
}
