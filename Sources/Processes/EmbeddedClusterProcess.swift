// The embedded cluster in a process of its own, as `millrace embedded-cluster` runs it.

internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A cluster that was started and has its topics.
package struct EmbeddedClusterProcess: Sendable {
  /// `host:port` of its broker.
  package let address: String
  private let process: Child

  /// Starts one and waits until it can be used.
  ///
  /// - Parameters:
  ///   - millrace: The path of the command line.
  ///   - configuration: The path of the configuration, which says what topics there are.
  ///   - directory: Where its address and its log go.
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

  /// What its clients' environment has.
  package var environment: [String: String] { Self.environment(address) }

  /// What the environment of clients of a cluster has.
  package static func environment(_ address: String) -> [String: String] {
    ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": address]
  }

  /// Ends it; nothing of it is kept.
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
