// What is wrong with a scenario: the key, and what to write there.

/// A scenario that cannot be played.
public struct ScenarioError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key, from the outermost: `events[3].every`; empty for the file as a whole.
  public let path: String
  /// What is wrong there, and what is expected.
  public let problem: String

  /// An error at a key.
  public init(_ path: String, _ problem: String) {
    self.path = path
    self.problem = problem
  }

  /// `path: problem`.
  public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}
