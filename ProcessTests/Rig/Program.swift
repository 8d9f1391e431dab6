// The programs that a deployment runs.

/// A program and its first arguments.
package struct Program: Sendable {
  /// The name in messages and of logs.
  package let name: String
  let executable: String
  let arguments: [String]

  /// A program of its own.
  package init(_ executable: String, _ arguments: [String] = []) {
    self.init(name: executable, executable: executable, arguments: arguments)
  }

  /// A worker that only scenarios run, by its subcommand.
  package static func scenario(_ subcommand: String) -> Program {
    Program(name: subcommand, executable: "millrace-scenarios", arguments: [subcommand])
  }

  private init(name: String, executable: String, arguments: [String]) {
    (self.name, self.executable, self.arguments) = (name, executable, arguments)
  }
}
