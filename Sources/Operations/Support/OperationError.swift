// The error type of this module.

/// The reason why a command failed, and the remedy.
public struct OperationError: Error, Sendable, Hashable {
  /// The kind of error, which determines the exit status.
  package enum Kind: Sendable, Hashable {
    /// The command line is invalid (status 64).
    case usage
    /// The command failed (status 1).
    case failed
    /// The reader closed the output, as `head` does after ten lines. Not reported (status 0).
    case outputClosed
  }

  /// The kind of error.
  package var kind: Kind
  /// The problem, in one clause without a full stop.
  package var what: String
  /// The flag, file or topic at fault; nil if there is none.
  package var place: String?
  /// The action to take, in one clause without a full stop.
  package var remedy: String

  /// Creates an error.
  package init(_ kind: Kind, _ what: String, at place: String? = nil, remedy: String) {
    self.kind = kind
    self.what = what
    self.place = place
    self.remedy = remedy
  }
}

extension OperationError {
  /// The error for a topic that Kafka does not show to this program.
  static func missing(
    _ topic: String, _ kind: Kind = .failed, at place: String? = nil,
    remedy: String = "create it with millrace topics apply"
  ) -> OperationError {
    OperationError(
      kind, "no such topic in the cluster, or this user may not describe it", at: place ?? topic,
      remedy: "\(remedy), or grant the right that millrace topics acls prints")
  }
}

extension OperationError: CustomStringConvertible {
  /// The error on one line: `place: what; remedy`.
  public var description: String { (place.map { "\($0): " } ?? "") + "\(what); \(remedy)" }
}
