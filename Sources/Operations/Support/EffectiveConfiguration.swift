// Loads the configuration of a command: the file from --config or MILLRACE_CONFIG, overridden by environment variables.

package import KafkaClient
package import MillraceCore

/// Finds and reads the configuration of a command.
package enum EffectiveConfiguration {
  /// The environment variable that names the file if `--config` is missing.
  package static let fileVariable = "MILLRACE_CONFIG"

  /// The file that `--config` or ``fileVariable`` names; nil if neither is set.
  package static func file(option: String?, environment: [String: String]) -> String? {
    option ?? environment[fileVariable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads and checks the configuration.
  /// - Parameter forms: The worker types whose settings are checked.
  /// - Throws: `MillraceError` with every problem found.
  package static func load(
    option: String?, environment: [String: String], workers forms: [WorkerSettingsForm] = []
  ) throws(MillraceError) -> LoadedConfiguration {
    try LoadedConfiguration.load(
      path: file(option: option, environment: environment), environment: environment, workers: forms)
  }
}

extension KafkaSettings {
  /// Creates the configuration of a client outside the cluster's process.
  ///
  /// - Throws: `MillraceError` if the cluster is embedded in another process and has no configured address.
  package func outsideClient(clientID: String = "millrace-cli") throws(MillraceError) -> KafkaConfiguration {
    guard !isEmbedded else {
      throw MillraceError(
        .configuration, "the value is `embedded`: no command can reach a cluster inside another process",
        at: "kafka.bootstrapServers", remedy: "run millrace embedded-cluster and set the address it prints")
    }
    return try client(clientID: clientID)
  }
}
