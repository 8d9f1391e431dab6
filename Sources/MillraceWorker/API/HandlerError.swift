// The errors of the functions that a handler calls. A handler's own decisions are outcomes, not errors.

/// A function of ``HandlerContext`` that cannot do what it was asked to do, and that no retry would help.
///
/// If a handler throws it, the notification becomes a dead letter with ``reason``. An `EncodingError` and an `APIError`
/// of class `never` make it a dead letter too. After any other error the worker runs the handler again: by the retry
/// schedule, or when Apple accepts the call again.
public struct HandlerError: Error, Sendable, CustomStringConvertible {
  /// The stable code: `api-not-configured`, `effect-name`, `effect-body`, `effect-result` or `stored-value`.
  public let reason: String
  /// A description of the problem, and the action that the operator should take.
  public let description: String

  init(_ reason: String, _ description: String) {
    self.reason = reason
    self.description = description
  }
}
