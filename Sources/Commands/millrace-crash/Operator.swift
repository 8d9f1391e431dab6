// Runs the built command line as an operator's script does, and parses its standard output, one JSON object per line.

import AppStore
import Foundation
import Processes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

actor Operator {
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
  func millrace(_ arguments: [String]) async throws -> Answer {
    count += 1
    let name = "\(deployment.directory)/operator-\(count)"
    let child = try Child(
      deployment.tools.program("millrace"), arguments + ["--config", deployment.path],
      environment: deployment.environment, log: "\(name).log", answer: "\(name).jsonl")
    let limit = Task { [deadline = deployment.tools.deadline] in
      try await Task.sleep(until: deadline, clock: .continuous)
      child.send(SIGKILL)
    }
    defer { limit.cancel() }
    let end = await withTaskCancellationHandler {
      await child.wait()
    } onCancel: {
      child.send(SIGKILL)
    }
    let words = "millrace \(arguments.joined(separator: " "))"
    guard case .exit(let status) = end else { throw RunError("\(words) ended with \(end); see \(child.log)") }
    let text = try Self.text(of: "\(name).jsonl")
    do {
      let lines = try text.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
      let notes = try Self.text(of: child.log).split(separator: "\n").joined(separator: "; ")
      return Answer(status: status, lines: lines, text: text, notes: notes)
    } catch {
      throw RunError("\(words) printed a line that is not a JSON object: \(error); see \(name).jsonl")
    }
  }

  private static func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }
}

extension JSONObject {
  func text(_ key: String) -> String? {
    guard case .string(let text)? = self[key] else { return nil }
    return text
  }

  func count(_ key: String) -> Int64? {
    guard case .integer(let count)? = self[key] else { return nil }
    return count
  }

  /// The object as it was printed.
  var line: String { String(decoding: serialized(), as: UTF8.self) }

  func object(_ key: String) -> JSONObject? {
    guard case .object(let object)? = self[key] else { return nil }
    return object
  }
}
