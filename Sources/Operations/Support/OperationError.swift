// The one error type of this module: what a person at a terminal asked for and cannot have, and what to do instead.

/// Why a command did not do what it was asked.
public struct OperationError: Error, Sendable, Hashable {
  /// What kind of mistake it is; decides the exit status.
  public enum Kind: Sendable, Hashable {
    /// The command line asks for something that makes no sense (status 64).
    case usage
    /// The command could not do its work (status 1).
    case failed
    /// Whoever read our output is gone, as `head` is after ten lines. Nothing to report (status 0).
    case outputClosed
  }

  /// What kind of mistake it is.
  public var kind: Kind
  /// What is wrong, in one clause without a full stop.
  public var what: String
  /// Where: a flag, a file, a topic; nil where there is nothing to point at.
  public var place: String?
  /// What to do now, in one clause without a full stop.
  public var remedy: String

  /// Describes one mistake.
  public init(_ kind: Kind, _ what: String, at place: String? = nil, remedy: String) {
    self.kind = kind
    self.what = what
    self.place = place
    self.remedy = remedy
  }
}

extension OperationError: CustomStringConvertible {
  /// `place: what; remedy`, on one line.
  public var description: String { (place.map { "\($0): " } ?? "") + "\(what); \(remedy)" }
}
