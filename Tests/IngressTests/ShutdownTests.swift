// Tests promise 10 for the ingress: the real process stops gracefully under load.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import Logging
import MillraceRecords
import NIOHTTP1
import Testing

@testable import Ingress
import MillraceCore

@Suite(.serialized, .timeLimit(.minutes(15))) struct ShutdownTests {
  @Test func `SIGTERM under load loses nothing that was answered with 200, and the exit status is 0`() async throws {
    var fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    fixture.configuration.topics.lanes = 12
    let notifications = try OutageTests.notifications(fixture, count: 4000, seed: 21)
    let catalog = try TopicCatalog.load(fixture.configuration.topics)
    let cluster = try await ClusterUnderTest(catalog)
    let ingress = try await IngressProcess(fixture, bootstrapServers: cluster.bootstrapServers)

    // Kafka acknowledges records with a delay. A process that exited at once would therefore leave records in Kafka
    // that it never answered.
    try cluster.embedded?.setRoundTrip(.milliseconds(50), of: 1)
    let load = Load()
    let bodies = notifications.map(\.body)
    async let running: Void = load.run(
      bodies, port: ingress.port, clients: 32,
      // After the exit every connection is refused, so the clients skip the rest.
      continues: { load.results.values.count { $0.status == nil } < 64 })
    await load.wait { $0.values.count { $0.status == 200 } >= 600 }
    let inFlight = load.inFlight
    ingress.terminate()
    let status = await ingress.exitStatus()
    await running

    #expect(status == 0)
    let answered = load.answered(200)
    #expect(answered.count >= 600)
    #expect(load.results.values.contains { $0.status == nil }, "the process exited after the load: nothing was tested")
    let stored = try await readAll(
      "appstore.notifications.tests", catalog: catalog, bootstrapServers: cluster.bootstrapServers)
    let storedIDs = Set(stored.compactMap { $0.header("ce_id") })
    let lost = answered.filter { !storedIDs.contains(notifications[$0].notificationUUID) }
    #expect(lost.isEmpty, "\(lost.count) of \(answered.count) answered 200 are not in Kafka")
    // At the exit a client may be disconnected before the ingress reads its request, but then no record is in Kafka.
    let unanswered = notifications.indices.filter {
      storedIDs.contains(notifications[$0].notificationUUID) && !answered.contains($0)
    }
    #expect(unanswered.isEmpty, "\(unanswered.count) of \(storedIDs.count) in Kafka were not answered 200")
    #expect(!inFlight.isDisjoint(with: answered), "no request that was in flight at SIGTERM was answered")
    print(
      "shutdown: \(inFlight.count) in flight at SIGTERM, \(answered.count) answered 200 before the end, \(stored.count) records"
    )
  }
}
