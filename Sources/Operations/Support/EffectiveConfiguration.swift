// The configuration as a command at a terminal gets it: the file that --config or MILLRACE_CONFIG names, under the
// environment.

public import Kafka
public import Millrace

/// Finds and reads the configuration of a command.
public enum EffectiveConfiguration {
  /// The variable that names the file where `--config` does not.
  public static let fileVariable = "MILLRACE_CONFIG"

  /// The file to read: what `--config` says, else ``fileVariable``; nil for none.
  public static func file(option: String?, environment: [String: String]) -> String? {
    option ?? environment[fileVariable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads and checks the configuration.
  /// - Throws: `MillraceError` with every problem found.
  public static func load(
    option: String?, environment: [String: String]
  ) throws(MillraceError) -> LoadedConfiguration {
    try LoadedConfiguration.load(path: file(option: option, environment: environment), environment: environment)
  }
}

extension KafkaSettings {
  /// A client for commands that look at a cluster from outside.
  ///
  /// - Throws: `MillraceError` for a cluster inside another process, which has no address in the configuration.
  public func outsideClient() throws(MillraceError) -> KafkaConfiguration {
    guard !isEmbedded else {
      throw MillraceError(
        .configuration, "the value is `embedded`, a cluster inside one process that no command can reach",
        at: "kafka.bootstrapServers", remedy: "run millrace embedded-cluster and set the address it prints")
    }
    return try client(clientID: "millrace-cli")
  }
}
