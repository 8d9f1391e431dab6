// Promise 10 for the ingress: the real process, under load, asked to end.

import AppStore
import AppStoreSigning
import Foundation
import Kafka
import Logging
import Millrace
import NIOHTTP1
import Testing

@testable import Ingress

@Suite(.serialized, .timeLimit(.minutes(15))) struct ShutdownTests {
  @Test func `SIGTERM under load loses nothing that was answered 200, and exits 0`() async throws {
    var fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    fixture.configuration.topics.lanes = 12
    let notifications = try OutageTests.notifications(fixture, count: 4000, seed: 21)
    let catalog = try TopicCatalog.load(fixture.configuration.topics)
    let cluster = try await ClusterUnderTest(catalog)
    let ingress = try await IngressProcess(fixture, bootstrapServers: cluster.bootstrapServers)

    // Records lie in Kafka for a while before anybody is told, so that a process that just ended would leave some there
    // that nobody was answered for.
    try cluster.embedded?.setRoundTrip(.milliseconds(50), of: 1)
    let load = Load()
    let bodies = notifications.map(\.body)
    async let running: Void = load.run(
      bodies, port: ingress.port, clients: 32,
      // After the end every connection is refused: no need to try the rest.
      continues: { load.results.values.count { $0.status == nil } < 64 })
    await load.wait { $0.values.count { $0.status == 200 } >= 600 }
    let inFlight = load.inFlight
    ingress.terminate()
    let status = await ingress.exitStatus()
    await running

    #expect(status == 0)
    let answered = load.answered(200)
    #expect(answered.count >= 600)
    #expect(load.results.values.contains { $0.status == nil }, "the process ended after the load: nothing was shown")
    let stored = try await readAll(
      "appstore.notifications.tests", catalog: catalog, bootstrapServers: cluster.bootstrapServers)
    let storedIDs = Set(stored.compactMap { $0.header("ce_id") })
    let lost = answered.filter { !storedIDs.contains(notifications[$0].notificationUUID) }
    #expect(lost.isEmpty, "\(lost.count) of \(answered.count) answered 200 are not in Kafka")
    // A client that races the end may be cut off before its request was read; one whose record is in Kafka was not.
    let unanswered = notifications.indices.filter {
      storedIDs.contains(notifications[$0].notificationUUID) && !answered.contains($0)
    }
    #expect(unanswered.isEmpty, "\(unanswered.count) of \(storedIDs.count) in Kafka were not answered 200")
    #expect(!inFlight.isDisjoint(with: answered), "nothing was in flight at SIGTERM that was then answered")
    print(
      "shutdown: \(inFlight.count) in flight at SIGTERM, \(answered.count) answered 200 before the end, \(stored.count) records"
    )
  }
}
