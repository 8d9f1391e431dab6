// The one error type of this module. An error is read by an operator at night: it says what is wrong, where, and what
// to do now. Several problems found in one pass (a configuration with three typing errors) travel together.

/// What the base of every Millrace process throws.
///
/// Neither ``Problem/what`` nor ``Problem/remedy`` ever holds a secret or a notification's content.
public struct MillraceError: Error, Sendable, Hashable {
  /// The part of a process that found the problem; decides the exit status of the process.
  public enum Area: String, Sendable, Hashable {
    /// The configuration file, the environment, or a file that the configuration names.
    case configuration
    /// The files below `topics/`, or their comparison with a cluster.
    case topics
    /// A record whose headers are not those of a notification.
    case record
    /// Something outside the process that did not answer, or not in time.
    case unavailable
    /// A service of this process that failed or ended when it should not have.
    case lifecycle
  }

  /// One thing that is wrong.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in one clause without a full stop.
    public var what: String
    /// Where: `millrace.yaml:12`, an environment variable, a topic; `nil` when there is no place to point at.
    public var place: String?
    /// What to do now, in one clause without a full stop.
    public var remedy: String

    /// Describes one problem.
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
  /// What is wrong; never empty.
  public var problems: [Problem]

  /// An error of several problems.
  ///
  /// - Parameter problems: At least one.
  public init(_ area: Area, _ problems: [Problem]) {
    self.area = area
    self.problems = problems
  }

  /// An error of one problem.
  public init(_ area: Area, _ what: String, at place: String? = nil, remedy: String) {
    self.init(area, [Problem(what, at: place, remedy: remedy)])
  }
}

extension MillraceError {
  /// The same error, saying which configuration key led to the place it names.
  func under(key: String) -> MillraceError {
    MillraceError(
      area, problems.map { Problem($0.what, at: "\(key): \($0.place ?? "")", remedy: $0.remedy) })
  }
}

extension MillraceError: CustomStringConvertible {
  /// One line for each problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
