// What is wrong with a scenario: the key, and what to write there.

internal import AppStore

/// A scenario that cannot be played.
public struct ScenarioError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key, from the outermost: `events[3].every`; empty for the file as a whole.
  public let path: String
  /// What is wrong there, and what is expected.
  public let problem: String

  /// What was probably meant; nil when nothing is near.
  public let nearest: String?

  /// An error at a key.
  public init(_ path: String, _ problem: String, nearest: String? = nil) {
    self.path = path
    self.problem = problem
    self.nearest = nearest
  }

  /// `path: problem; did you mean nearest?`
  public var description: String {
    (path.isEmpty ? problem : "\(path): \(problem)") + (nearest.map { "; did you mean \($0)?" } ?? "")
  }

  /// For a control request: `{"error": …, "key": …, "nearest": …}`.
  var json: JSONObject {
    var json: JSONObject = ["error": .string(description), "key": .string(path)]
    json["nearest"] = nearest.map { .string($0) }
    return json
  }
}
