// What the internet sends: broken bodies and slow clients, against the real process.

import AppStore
import AppStoreSigning
import Foundation
import Kafka
import Logging
import Millrace
import NIOHTTP1
import Testing

@testable import Ingress

@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileClientTests {
  static let mutations = 10_000

  @Test func `ten thousand mutated notifications are refused, the process lives and its memory stays flat`()
    async throws
  {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let catalog = try TopicCatalog.load(fixture.configuration.topics)
    let cluster = try await ClusterUnderTest(catalog)
    let ingress = try await IngressProcess(fixture, bootstrapServers: cluster.bootstrapServers)
    let seed: UInt64 = 0x4D49_4C4C
    var mutator = try NotificationMutator(fixture, seed: seed)
    let posts = (0..<Self.mutations).map { _ in mutator.next() }

    // The first part fills caches and pools; what follows must not grow.
    let warm = Self.mutations / 4
    let load = Load()
    await load.run(Array(posts[..<warm]), port: ingress.port, clients: 32)
    let before = try #require(ingress.residentBytes)
    let rest = Load()
    await rest.run(Array(posts[warm...]), port: ingress.port, clients: 32)
    let after = try #require(ingress.residentBytes)

    let statuses = Array(load.results.values) + Array(rest.results.values)
    #expect(statuses.count == Self.mutations)
    #expect(!statuses.contains { $0.status == nil }, "seed \(seed): a request got no answer")
    #expect(!statuses.contains { $0.status == 200 }, "seed \(seed): a mutated notification was accepted")
    #expect(after - before < 24 << 20, "seed \(seed): memory went from \(before) to \(after) bytes")
    for topic in catalog.notificationTopics {
      let records = try await readAll(topic.name, catalog: catalog, bootstrapServers: cluster.bootstrapServers)
      #expect(records.isEmpty, "seed \(seed): \(topic.name)")
    }
    let byStatus = Dictionary(grouping: statuses, by: { $0.status ?? 0 }).mapValues(\.count)
    print("mutations: \(byStatus.sorted { $0.key < $1.key }), resident \(before >> 10) kB then \(after >> 10) kB")

    // Alive and well: a sound one still gets through.
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 1)
    let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    #expect(try await AppleClient.post(sound.body, port: ingress.port).status == 200)
    ingress.terminate()
    #expect(await ingress.exitStatus() == 0)
  }

  @Test func `clients that send slowly are cut off and hold up nobody`() async throws {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let cluster = try await ClusterUnderTest(try TopicCatalog.load(fixture.configuration.topics))
    let ingress = try await IngressProcess(
      fixture, bootstrapServers: cluster.bootstrapServers, headPatience: 5, limits: ", maxRequestsInFlight: 16")
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 1)
    let beginnings = [
      "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-le",
      "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\n{\"signedPayload\":\"",
      "POST /v1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc",
      "",
    ]
    let port = ingress.port
    // The first fill caches and pools; what follows must not grow.
    for _ in 0..<20 {
      let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
      #expect(try await AppleClient.post(sound.body, port: port).status == 200)
    }
    let before = try #require(ingress.residentBytes)
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<80 {
        group.addTask { try await RawClient.sendAndWaitForTheEnd(beginnings[index % beginnings.count], port: port) }
      }
      // In the meantime others are served, though there are more slow clients than places.
      for _ in 0..<20 {
        let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
        #expect(try await AppleClient.post(sound.body, port: port).status == 200)
      }
      for try await received in group { #expect(!received.contains("200"), "\(received)") }
    }
    let after = try #require(ingress.residentBytes)
    #expect(after - before < 24 << 20, "memory went from \(before) to \(after) bytes")
    ingress.terminate()
    #expect(await ingress.exitStatus() == 0)
  }
}
