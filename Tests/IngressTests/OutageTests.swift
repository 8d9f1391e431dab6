// Tests promise 1 during outages of Kafka. On the real cluster of KAFKA_BOOTSTRAP_SERVERS only `NetworkFaultInjector` makes an
// outage, in the client's network.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import Logging
import MillraceWorker
import NIOHTTP1
import TestEnvironment
import Testing

@testable import Ingress

@Suite(.serialized, .timeLimit(.minutes(15))) struct OutageTests {
  static let requests = 3000
  static let clients = 32
  /// Far longer than the ingress needs to answer after Kafka's timeout of 1.5 s, even if a busy machine delays the
  /// client by seconds. Only a missed deadline fails the test.
  static let deadline = Duration.seconds(60)

  /// Small, distinct notifications: 3000 stay far below the embedded cluster's limit of 5 MiB a partition.
  static func notifications(_ fixture: IngressFixture, count: Int, seed: UInt64) throws -> [SampleNotification] {
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: seed)
    return try (0..<count).map { _ in
      try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    }
  }

  static func fixture() throws -> IngressFixture {
    var fixture = try IngressFixture()
    fixture.configuration.topics.lanes = 12
    fixture.configuration.ingress.deadline = deadline
    fixture.configuration.ingress.bodyTimeout = .seconds(5)
    fixture.configuration.kafka.properties["message.timeout.ms"] = "1500"
    return fixture
  }

  @Test(.enabled(if: realCluster == nil, "the tests do not stop brokers of a real cluster"))
  func `an outage of the brokers loses nothing that was answered with 200`() async throws {
    let fixture = try Self.fixture()
    let notifications = try Self.notifications(fixture, count: Self.requests, seed: 11)
    try await fixture.run { (ingress) async throws in
      try await Self.check(
        notifications, ingress, down: { try ProcessStart.alone { try ingress.cluster.embedded?.takeDown(1) } }
      ) {
        try ingress.cluster.embedded?.bringUp(1)
      }
    }
  }

  @Test func `an outage of the network loses nothing that was answered with 200`() async throws {
    let fixture = try Self.fixture()
    let notifications = try Self.notifications(fixture, count: Self.requests, seed: 12)
    let gate = NetworkFaultInjector()
    try await fixture.run(gate: gate) { (ingress) async throws in
      try await Self.check(notifications, ingress, down: { gate.close() }) { gate.open() }
    }
  }

  /// Runs three outages under load. Each begins and ends after a number of answers, not at a time.
  static func check(
    _ notifications: [SampleNotification], _ ingress: RunningIngress, down: () throws -> Void, up: () throws -> Void
  ) async throws {
    let load = Load()
    let bodies = notifications.map(\.body)
    async let running: Void = load.run(bodies, port: ingress.port, clients: clients)
    for outage in 1...3 {
      let before = 500 * outage
      await load.wait { $0.values.count { $0.status == 200 } >= before }
      try down()
      let refused = load.answered(503).count + 2 * clients
      await load.wait { $0.values.count { $0.status == 503 } >= refused }
      try up()
    }
    await running

    let results = load.results
    #expect(results.count == bodies.count)
    #expect(Set(results.values.map(\.status)) == [200, 503])
    let slowest = results.values.map(\.elapsed).max() ?? .zero
    #expect(slowest < deadline, "the slowest answer took \(slowest)")
    let stored = try await ingress.records(of: "appstore.notifications.tests")
    let storedIDs = Set(stored.compactMap { $0.header("ce_id") })
    let lost = load.answered(200).filter { !storedIDs.contains(notifications[$0].notificationUUID) }
    #expect(lost.isEmpty, "\(lost.count) of \(load.answered(200).count) answered 200 are not in Kafka")
    print(
      "outages: \(results.count) requests, \(load.answered(200).count) answered 200, "
        + "\(load.answered(503).count) answered 503, \(stored.count) records, slowest answer \(slowest)")
  }
}
