// Runs a program to its end and reads its output.

internal import Foundation

/// The result of a program that has exited.
package struct CommandResult: Sendable {
  package let status: Int32
  /// Standard output.
  package let output: String
  /// Standard error.
  package let notes: String

  /// Runs a program. Kills it at the time limit, or if the task is cancelled.
  ///
  /// - Parameters:
  ///   - name: The name of the program in errors.
  ///   - file: The path of the files for its output, without extension.
  ///   - deadline: The time limit; nil: none.
  /// - Throws: ``RunError`` if a signal ended the program.
  package init(
    of program: String, _ arguments: [String], name: String, environment: [String: String] = [:], file: String,
    before deadline: ContinuousClock.Instant? = nil
  ) async throws {
    let child = try Child(
      program, arguments, environment: environment, log: "\(file).log", answer: "\(file).out")
    let limit = deadline.map { deadline in
      Task {
        try await Task.sleep(until: deadline, clock: .continuous)
        child.send(.kill)
      }
    }
    defer { limit?.cancel() }
    let end = await withTaskCancellationHandler {
      await child.wait()
    } onCancel: {
      child.send(.kill)
    }
    guard case .exit(let status) = end else {
      throw RunError("\(name) \(arguments.joined(separator: " ")) ended with \(end); see \(child.log)")
    }
    self.status = status
    output = try String(contentsOfFile: "\(file).out", encoding: .utf8)
    notes = try String(contentsOfFile: child.log, encoding: .utf8)
  }
}
