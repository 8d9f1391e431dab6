// What the command line of every process has: where its configuration is, and a look at it.

package import ArgumentParser

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The flags that every process takes.
package struct ProcessOptions: ParsableArguments {
  @Option(help: "The configuration file; without it $MILLRACE_CONFIG, or the environment alone.")
  package var config: String?

  @Flag(help: "Print the effective configuration with its sources, secrets masked, and exit.")
  package var printConfig = false

  package init() {}

  /// Serves by the configuration, or prints it; then ends the process by what came of it.
  ///
  /// - Parameter name: The process's name in what it prints.
  /// - Throws: `ExitCode`, where it served.
  package func run(
    _ name: String, serving serve: (MillraceConfiguration) async throws -> ExitStatus
  ) async throws {
    let status: ExitStatus
    do {
      let loaded = try LoadedConfiguration.load(path: config, environment: ProcessInfo.processInfo.environment)
      if printConfig {
        print(loaded.rendered(), terminator: "")
        return
      }
      status = try await serve(loaded.configuration)
    } catch {
      status = ProcessRunner.explain(error, name: name)
    }
    throw ExitCode(status.rawValue)
  }
}
