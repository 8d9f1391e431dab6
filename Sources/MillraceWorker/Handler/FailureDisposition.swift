// What the worker does after a handler has thrown an error.

internal import AppStore
internal import AppStoreServerAPI

/// The action that the worker takes after a handler has failed.
enum FailureDisposition: Sendable, Hashable {
  /// Retry at this time.
  case retryAt(Timestamp)
  /// Run the handler again at this time. Nothing failed, so the run does not count as an attempt.
  case wait(until: Timestamp)
  /// Retry after the next delay of the retry schedule.
  case retryBySchedule
  /// Do not retry. The notification becomes a dead letter with this reason code.
  case deadLetter(reason: String)

  /// Returns the action for an error: one of Apple's API, of ``HandlerContext``, or any other.
  static func of(_ error: any Error) -> FailureDisposition {
    switch error {
    case let error as APIError: of(error)
    case let error as HandlerError: .deadLetter(reason: error.reason)
    case is EncodingError: .deadLetter(reason: "event-not-encodable")
    default: .retryBySchedule
    }
  }

  private static func of(_ error: APIError) -> FailureDisposition {
    if case .budget = error.kind { return error.retryAt.map { .wait(until: $0) } ?? .retryBySchedule }
    if case .rateLimited = error.kind, let retryAt = error.retryAt { return .wait(until: retryAt) }
    return switch error.errorClass {
    case .retryNow, .configuration: .retryBySchedule
    case .retryLater: error.retryAt.map { .retryAt($0) } ?? .retryBySchedule
    case .never: .deadLetter(reason: "apple-refused")
    }
  }
}
