// The command line of the console. It is in the library because two executables use it: `millrace-console`, and
// `millrace` when the container image starts it under that name.

package import ArgumentParser
internal import Foundation
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords

/// The command line of `millrace-console`.
package struct ConsoleCommand: AsyncParsableCommand {
  /// Name, help and version.
  package static let configuration = CommandConfiguration(
    commandName: "millrace-console",
    abstract: "A web page for operators: throughput, lag, retries, dead letters and the audit trail.",
    discussion: """
      Requires a proxy that authenticates users and passes the user's name in console.userHeader. With \
      console.proxy: none it accepts requests from this machine only. It is read-only unless started with --allow-actions.

      Examples:
        millrace-console --config millrace.yaml
        MILLRACE_CONSOLE_PROXY=none millrace-console --config millrace.yaml
        millrace-console --config millrace.yaml --allow-actions
      """,
    version: MillraceVersion.text)

  @OptionGroup var process: ProcessOptions

  @Flag(
    help: """
      Let users requeue and discard dead letters, resubmit quarantined bodies, and pause and stop runs. Every action is \
      in millrace.audit with the user's name.
      """)
  var allowActions = false

  @Flag(help: "Show the payloads of notifications, which are personal data.")
  var showPayloads = false

  @Option(help: ArgumentHelp("Write the address to this file when the console accepts requests.", valueName: "path"))
  var addressFile: String?

  /// Creates a command without arguments.
  package init() {}

  /// Serves until the process is asked to stop.
  package func run() async throws {
    try await process.run("millrace-console", serving: serve)
  }

  private func serve(_ configuration: MillraceConfiguration) async throws -> ExitStatus {
    let host = ProcessHost("millrace-console", configuration)
    let catalog = try TopicCatalog.load(configuration)
    let kafka = try configuration.kafka.client(clientID: "millrace-console")
    var options = ConsoleOptions()
    options.allowsActions = allowActions
    options.showsPayloads = showPayloads
    options.localUser = NSUserName()
    let (address, file) = (configuration.console.host, addressFile)
    let server = ConsoleServer(
      configuration, catalog: catalog, kafka: kafka, options: options, clock: host.clock, logger: host.logger
    ) { [logger = host.logger] port in
      guard let file else { return }
      do {
        try Data("http://\(address):\(port)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
      } catch {
        logger.error("could not write the address file", metadata: ["file": "\(file)", "error": "\(error)"])
      }
    }
    // Without a check of the topics: if they are missing, the console is what shows it.
    return await host.run([server], checks: [server.readiness])
  }
}
