// Runs `millrace embedded-cluster` as a child process.

internal import Foundation

/// A running cluster with its topics.
struct EmbeddedClusterProcess: Sendable {
  /// The `host:port` of its broker.
  let address: String
  private let process: Child

  /// Starts a cluster and waits until it is ready.
  ///
  /// - Parameters:
  ///   - directory: The directory for its address file and log.
  ///   - configuration: The path of the configuration, which determines the topics.
  init(_ rig: Rig, in directory: String, configuration: String) async throws {
    let file = "\(directory)/bootstrap"
    process = try Child(
      rig.program("millrace"), ["embedded-cluster", "--config", configuration, "--bootstrap-file", file],
      log: "\(directory)/cluster.log")
    do {
      var text = ""
      while text.isEmpty {
        guard ContinuousClock.now < rig.deadline, process.end == nil else {
          throw RunError("the embedded cluster did not start; see \(process.log)")
        }
        try await Task.sleep(for: .milliseconds(20))
        text = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      address = text.trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      process.send(.kill)
      throw error
    }
  }

  /// Kills the process. The cluster's data is lost.
  func end() { process.send(.kill) }
}
