// An error in a scenario: the key and the expected value.

internal import AppStore

/// A scenario that cannot be run.
public struct ScenarioError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The full path of the key, such as `events[3].every`; empty for the file as a whole.
  public let path: String
  /// The problem and the expected value.
  public let problem: String

  /// The nearest known name; nil if none is similar.
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

  /// The body of a control response: `{"error": …, "key": …, "nearest": …}`.
  var json: JSONObject {
    var json: JSONObject = ["error": .string(description), "key": .string(path)]
    json["nearest"] = nearest.map { .string($0) }
    return json
  }
}
