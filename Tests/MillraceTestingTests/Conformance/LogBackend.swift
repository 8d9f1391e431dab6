// The logs that the conformance suite runs against: in memory, the embedded cluster, and the cluster in
// KAFKA_BOOTSTRAP_SERVERS. A test is skipped on a log that lacks a required capability.

import MillraceTime
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import TestEnvironment
import Testing

enum LogBackend: String, CaseIterable, CustomTestStringConvertible {
  case inMemory = "in memory"
  case embedded = "embedded cluster"
  case real = "KAFKA_BOOTSTRAP_SERVERS"

  /// The backends that are available in this run.
  static let available: [LogBackend] = realServers == nil ? [.inMemory, .embedded] : allCases

  static let realServers = SharedCluster.servers

  var testDescription: String { rawValue }
}

/// A log for one test.
struct LogUnderTest {
  let backend: LogBackend
  let log: any RecordLog
  /// The prefix of every name in this test. It is unique, so suites can run in parallel and repeatedly.
  let prefix: String

  private let embedded: EmbeddedCluster?
  private let inMemory: InMemoryLog?
  private let time = ManualClock()

  /// Connects to a log of this kind. Skips the test if the log lacks one of the capabilities.
  init(_ backend: LogBackend, requires capabilities: LogCapabilities = []) async throws {
    self.backend = backend
    prefix = SharedCluster.uniqueName()
    switch backend {
    case .inMemory:
      let log = InMemoryLog(clock: time.clock)
      (self.log, inMemory, embedded) = (log, log, nil)
    case .embedded:
      let cluster = try EmbeddedCluster()
      var configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: prefix)
      // The mock cluster removes members that take longer to join, and then reassigns all partitions.
      configuration.properties["session.timeout.ms"] = "10000"
      (log, inMemory, embedded) = (try await KafkaLog.connect(configuration, timeout: .seconds(30)), nil, cluster)
    case .real:
      let servers = try #require(LogBackend.realServers)
      var configuration = KafkaConfiguration(bootstrapServers: servers, clientID: prefix)
      configuration.properties["heartbeat.interval.ms"] = "200"
      (log, inMemory, embedded) = (try await KafkaLog.connect(configuration, timeout: .seconds(30)), nil, nil)
    }
    let missing = capabilities.subtracting(log.description.capabilities)
    if !missing.isEmpty { try Self.skip("on the \(backend.rawValue)", "no \(missing)") }
  }

  /// Skips the test case. Swift Testing does not print a cancelled case, so this prints the line that it prints for a
  /// skipped test.
  private static func skip(_ place: String, _ reason: String) throws -> Never {
    let name = Test.current?.displayName ?? Test.current?.name ?? "?"
    FileHandle.standardError.write(Data("➜ Test \"\(name)\" \(place) skipped: \(reason)\n".utf8))
    try Test.cancel("\(place): \(reason)")
  }

  /// Creates a topic and returns its full name.
  func topic(_ name: String = "t", partitions: Int = 1) async throws -> String {
    let full = "\(prefix).\(name)"
    if let inMemory {
      try inMemory.createTopic(full, partitions: partitions)
    } else if let embedded {
      try embedded.createTopic(full, partitions: partitions)
    } else {
      let configuration = KafkaConfiguration(bootstrapServers: LogBackend.realServers ?? "", clientID: prefix)
      try await KafkaAdmin(configuration).createTopic(
        full, partitions: partitions, replicationFactor: 1, settings: ["retention.ms": "-1"], timeout: .seconds(30))
    }
    return full
  }

  /// Lets `duration` pass for a waiting call. Advances the manual clock of the in-memory log; with a cluster, real time
  /// passes.
  func pass(_ duration: Duration) async {
    guard inMemory != nil else { return }
    await time.waitForSleepers()
    time.advance(by: duration)
  }
}
