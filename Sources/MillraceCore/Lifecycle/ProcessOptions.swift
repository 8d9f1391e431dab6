package import ArgumentParser

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The command-line options of every process.
package struct ProcessOptions: ParsableArguments {
  @Option(help: "The configuration file. Default: $MILLRACE_CONFIG, or the environment alone.")
  package var config: String?

  @Flag(help: "Print the effective configuration with its sources, secrets masked, and exit.")
  package var printConfig = false

  package init() {}

  /// Loads the configuration, then serves with it or prints it.
  ///
  /// - Parameters:
  ///   - name: The process's name in its output.
  ///   - forms: The worker types that the process knows.
  /// - Throws: `ExitCode` with the exit status, unless it printed the configuration.
  package func run(
    _ name: String, workers forms: [WorkerSettingsForm] = [],
    serving serve: (MillraceConfiguration) async throws -> ExitStatus
  ) async throws {
    let status: ExitStatus
    do {
      let loaded = try LoadedConfiguration.load(
        path: config, environment: ProcessInfo.processInfo.environment, workers: forms)
      if printConfig {
        print(loaded.rendered(workers: forms), terminator: "")
        return
      }
      status = try await serve(loaded.configuration)
    } catch {
      status = ProcessRunner.explain(error, name: name)
    }
    throw ExitCode(status.rawValue)
  }
}
