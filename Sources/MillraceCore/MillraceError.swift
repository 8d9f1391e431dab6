// The one error type of this module. Operators read it at night: it says what is wrong, where, and what to do. Problems
// found in one pass, such as three typing errors in a configuration, are reported together.

/// The error type of every Millrace process.
///
/// ``Problem/what`` and ``Problem/remedy`` never contain a secret or a notification's content.
public struct MillraceError: Error, Sendable, Hashable {
  /// The part of a process that found the problem. It determines the exit status.
  public enum Area: String, Sendable, Hashable {
    /// The configuration file, the environment, or a file that the configuration names.
    case configuration
    /// The files below `topics/`, or their comparison with a cluster.
    case topics
    /// A record without the headers of a notification.
    case record
    /// An external service that did not answer in time.
    case unavailable
    /// A service of this process that failed or ended unexpectedly.
    case lifecycle
    /// This process's name in a consumer group, which another process uses.
    case membership
  }

  /// One problem.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The problem, in one clause without a full stop.
    public var what: String
    /// The place: `millrace.yaml:12`, an environment variable or a topic; `nil` if there is none.
    public var place: String?
    /// The action for the operator, in one clause without a full stop.
    public var remedy: String

    /// Creates a problem.
    public init(_ what: String, at place: String? = nil, remedy: String) {
      self.what = what
      self.place = place
      self.remedy = remedy
    }

    /// `place: what; remedy`, on one line.
    public var description: String {
      let text = (place.map { "\($0): " } ?? "") + "\(what); \(remedy)"
      return String(text.map { $0.isNewline ? " " : $0 })
    }
  }

  /// The part that found the problems.
  public var area: Area
  /// The problems; never empty.
  public var problems: [Problem]

  /// Creates an error with several problems.
  ///
  /// - Parameter problems: At least one.
  public init(_ area: Area, _ problems: [Problem]) {
    self.area = area
    self.problems = problems
  }

  /// Creates an error with one problem.
  public init(_ area: Area, _ what: String, at place: String? = nil, remedy: String) {
    self.init(area, [Problem(what, at: place, remedy: remedy)])
  }
}

extension MillraceError {
  /// Returns the error with the configuration key that led to the place it names.
  package func under(key: String) -> MillraceError {
    MillraceError(
      area, problems.map { Problem($0.what, at: "\(key): \($0.place ?? "")", remedy: $0.remedy) })
  }
}

extension MillraceError: CustomStringConvertible {
  /// One line per problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
