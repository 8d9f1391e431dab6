// Runs the suite that every log has to pass (Tests/MillraceTestingTests/Conformance) on the models.

internal import CSimulation
internal import KafkaClient
internal import MillraceRecords
internal import Testing

/// The log of the suite. Elsewhere the same name lists the logs in memory, of the embedded cluster and of a real Kafka.
enum LogBackend: String, CaseIterable, CustomTestStringConvertible {
  case simulated
  /// Tests that need a real Kafka name it.
  case real

  static let available = [LogBackend.simulated]
  /// There is no real Kafka, so tests that need one are skipped.
  static let realServers: String? = nil

  var testDescription: String { rawValue }
}

/// A log for one test: three brokers of their own.
struct LogUnderTest {
  let log: any RecordLog
  let prefix = "c"
  private let cluster: Cluster

  /// - Throws: An error if the log lacks a capability. The models have all.
  init(_ backend: LogBackend, requires capabilities: LogCapabilities = []) async throws {
    cluster = Cluster(network: Network(), timeline: Timeline(isKept: false))
    log = SimulatedLog(cluster: cluster, process: .current, name: "c")
    try #require(log.description.capabilities.isSuperset(of: capabilities))
  }

  func topic(_ name: String = "t", partitions: Int = 1) async throws -> String {
    cluster.create("\(prefix).\(name)", partitions: partitions)
    return "\(prefix).\(name)"
  }

  /// Lets time pass for a waiting call. Simulated time passes when every task waits.
  func pass(_ duration: Duration) async {}
}

enum Conformance {
  /// - Returns: Whether every test passed, with each seed.
  static func run() throws -> Bool {
    for (seed, policy) in zip(1..., SchedulingPolicy.allCases + SchedulingPolicy.allCases) {
      let end = try Child.run(timeout: 300) {
        // A test that waits for ever has members that send heartbeats for ever.
        let code = Simulation.run(seed: UInt64(seed), policy: policy.native, mostJobs: 3_000_000) { () async -> CInt in
          await Testing.__swiftPMEntryPoint(passing: nil)
        }
        print("the suite of logs with seed \(seed): \(code.map { $0 == 0 ? "passed" : "failed" } ?? "stuck")")
      }
      print(end.output, terminator: "")
      guard end.failure == nil, end.output.contains(": passed") else { return false }
    }
    return true
  }
}
