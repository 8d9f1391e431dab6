// `millrace config`

import ArgumentParser
import MillraceCore
import Operations

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the effective configuration and the source of each value.",
    discussion: """
      Prints the values that are set, the defaults, and the attempts, delays and timeouts in effect for each worker. \
      Secrets are masked. Exits with 78 and a description if the configuration is invalid.

      Examples:
        millrace config --config millrace.yaml
        MILLRACE_INGRESS_PORT=8443 millrace config
        millrace config --all
        millrace config --reference > configuration.md
      """)

  @Flag(help: "Print the reference of all keys as Markdown.")
  var reference = false

  @Flag(help: "Print the keys without a value, too.")
  var all = false

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let (reference, shared, all) = (self.reference, self.shared, self.all)
    try await conclude { console in
      let forms = ShippedWorkers.forms
      try console.out.text(
        reference
          ? MillraceConfiguration.reference(workers: forms)
          : try shared.load().rendered(workers: forms, withUnset: all))
      return .success
    }
  }
}
