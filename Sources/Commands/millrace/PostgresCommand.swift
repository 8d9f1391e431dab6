// Runs the commands of millrace-postgres, which is a program of its own: no other one needs PostgreSQL's library.

import ArgumentParser
import Foundation
import MillraceCore

struct PostgresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgres",
    abstract: "Create or inspect the tables of millrace-postgres.",
    discussion: """
      Runs the program millrace-postgres, which is beside millrace or in PATH.

      Examples:
        millrace postgres migrate --config millrace.yaml
        millrace postgres status --config millrace.yaml
      """)

  @Argument(parsing: .captureForPassthrough, help: "migrate or status, with the options of millrace-postgres.")
  var arguments: [String] = []

  private static let name = "millrace-postgres"

  /// The path of the program; nil if it is not installed.
  static var program: String? { InstalledProgram.path(of: name) }

  func run() throws {
    if let program = Self.program {
      let words = [Self.name] + (arguments.isEmpty ? ["--help"] : arguments)
      var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      execv(program, &pointers)
    }
    throw ValidationError("\(Self.name) is not installed: it has to be in the folder of millrace, or in PATH")
  }
}
