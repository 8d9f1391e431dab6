// The errors of the functions that a handler calls. A handler's own decisions are outcomes, not errors.

/// A function of ``HandlerContext`` that cannot do what it was asked to do, and that no retry would help.
///
/// A handler that lets it through makes its notification a dead letter with ``reason``. Every other error is a failure
/// that may be temporary: the worker runs the handler again by the retry schedule.
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
