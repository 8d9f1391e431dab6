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

  func run() throws {
    let name = "millrace-postgres"
    // Without /proc only PATH is searched.
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folders =
      [own.map { URL(filePath: $0).deletingLastPathComponent().path }].compactMap(\.self)
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
      let words = [name] + (arguments.isEmpty ? ["--help"] : arguments)
      var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      execv("\(folder)/\(name)", &pointers)
    }
    throw ValidationError("\(name) is not installed: it has to be in the folder of millrace, or in PATH")
  }
}
