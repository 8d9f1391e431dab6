// The real Kafka that the tests of every module share.

internal import Foundation

/// The cluster that `KAFKA_BOOTSTRAP_SERVERS` names, if it names one.
package enum SharedCluster {
  /// A comma-separated list of `host:port`. Nil if no cluster is named; tests that need one are then skipped.
  package static let servers = value("KAFKA_BOOTSTRAP_SERVERS")

  /// A name that no other test uses. `scripts/test` deletes topics at the end by their prefix, `KAFKA_TEST_PREFIX`.
  package static func uniqueName() -> String {
    "\(value("KAFKA_TEST_PREFIX") ?? "millrace-test-")\(UUID().uuidString.prefix(8).lowercased())"
  }

  private static func value(_ variable: String) -> String? {
    ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }
}
