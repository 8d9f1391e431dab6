// The settings that all scenarios share: programs, files, cluster and time limit.

package import ArgumentParser
internal import Foundation

/// The options of a scenario that starts processes.
package struct RigOptions: ParsableArguments {
  @Option(help: "The random seed; by default a random one.") package var seed: UInt64?
  @Option(help: "The time limit in seconds.") package var limit = 240
  @Option(help: "Comma-separated host:port of a real cluster's brokers; the run creates its own topics.")
  package var bootstrapServers: String?
  @Option(help: "The directory of the executables.") package var programs: String
  @Option(help: "The directory of the topic files.") package var topics = "topics"
  @Option(help: "The directory for configurations and logs.") package var directory: String

  package init() {}

  /// The settings. The time limit starts now, and a run that does not end a minute after it is ended.
  package func rig() -> Rig {
    OpenWaits.end(after: .seconds(limit))
    return Rig(
      seed: seed ?? UInt64.random(in: 0..<1_000_000), programs: programs, topics: topics, directory: directory,
      bootstrapServers: bootstrapServers, prefix: ProcessInfo.processInfo.environment["KAFKA_TEST_PREFIX"] ?? "",
      deadline: ContinuousClock.now + .seconds(limit))
  }
}

/// The programs, files and cluster of a run.
package struct Rig: Sendable {
  package let seed: UInt64
  /// The directory of the executables.
  let programs: String
  /// The directory of the topic files.
  let topics: String
  /// The directory for configurations and logs.
  package let directory: String
  /// The cluster's brokers; nil: an embedded cluster for each deployment.
  package let bootstrapServers: String?
  /// The prefix of every topic name, by which scripts delete the topics.
  package let prefix: String
  /// The time limit of the run.
  package let deadline: ContinuousClock.Instant

  func program(_ name: String) -> String { "\(programs)/\(name)" }

  /// Creates a directory for a deployment and returns its path.
  package func makeDirectory(_ name: String) throws -> String {
    let path = "\(directory)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }
}

/// Writes a file that only its owner may read, such as a private key.
package func writePrivately(_ text: String, to path: String) throws {
  try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
}
