// `millrace config`

import ArgumentParser
import Millrace
import Operations

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the configuration that is in force, and where each value came from.",
    discussion: """
      Secrets are masked. Ends with 78 when something in it is wrong, and says what.

      Examples:
        millrace config --config millrace.yaml
        MILLRACE_INGRESS_PORT=8443 millrace config
        millrace config --reference > configuration.md
      """)

  @Flag(help: "Print the reference of all keys, as Markdown.")
  var reference = false

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let (reference, shared) = (self.reference, self.shared)
    try await conclude { console in
      try console.out.text(reference ? MillraceConfiguration.reference() : try shared.load().rendered())
      return .success
    }
  }
}
