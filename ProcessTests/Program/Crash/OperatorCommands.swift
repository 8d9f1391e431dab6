// Runs the built command line as an operator's script does, and parses its standard output, one JSON object per line.

import AppStore
import ScenarioRig

actor OperatorCommands {
  /// The result of a command.
  struct Answer: Sendable {
    var status: Int32
    /// Standard output, line by line.
    var lines: [JSONObject]
    /// Standard output as text.
    var text: String
    /// Standard error.
    var notes: String
  }

  private let deployment: Deployment
  /// The number of commands so far.
  private(set) var count = 0

  init(_ deployment: Deployment) { self.deployment = deployment }

  /// Runs a command and waits for its end.
  func run(_ arguments: [String]) async throws -> Answer {
    count += 1
    let file = "operator-\(count)"
    let result = try await deployment.millrace(arguments, file: file)
    do {
      let lines = try result.output.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
      let notes = result.notes.split(separator: "\n").joined(separator: "; ")
      return Answer(status: result.status, lines: lines, text: result.output, notes: notes)
    } catch {
      throw RunError(
        """
        millrace \(arguments.joined(separator: " ")) printed a line that is not a JSON object: \(error); see \
        \(deployment.directory)/\(file).out
        """)
    }
  }
}
