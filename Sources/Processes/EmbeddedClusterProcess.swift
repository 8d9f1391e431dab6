// Runs `millrace embedded-cluster` as a child process.

internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A running cluster with its topics.
package struct EmbeddedClusterProcess: Sendable {
  /// The `host:port` of its broker.
  package let address: String
  private let process: Child

  /// Starts a cluster and waits until it is ready.
  ///
  /// - Parameters:
  ///   - millrace: The path of the command line.
  ///   - configuration: The path of the configuration, which determines the topics.
  ///   - directory: The directory for its address file and log.
  package init(
    _ millrace: String, configuration: String, directory: String, before deadline: ContinuousClock.Instant
  ) async throws {
    let file = "\(directory)/bootstrap"
    let process = try Child(
      millrace, ["embedded-cluster", "--config", configuration, "--bootstrap-file", file],
      log: "\(directory)/cluster.log")
    do {
      address = try await Self.address(in: file, of: process, before: deadline)
    } catch {
      process.send(SIGKILL)
      throw error
    }
    self.process = process
  }

  /// The environment variables for its clients.
  package var environment: [String: String] { Self.environment(address) }

  /// The environment variables for clients of a cluster.
  package static func environment(_ address: String) -> [String: String] {
    ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": address]
  }

  /// Kills the process. The cluster's data is lost.
  package func end() { process.send(SIGKILL) }

  private static func address(
    in file: String, of process: Child, before deadline: ContinuousClock.Instant
  ) async throws -> String {
    while ContinuousClock.now < deadline, process.end == nil {
      if let data = FileManager.default.contents(atPath: file), !data.isEmpty {
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw RunError("the embedded cluster did not start; see \(process.log)")
  }
}
