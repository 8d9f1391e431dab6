// Sends hostile traffic to the real process: broken bodies and slow clients.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import Logging
import MillraceRecords
import NIOHTTP1
import TestServers
import Testing

@testable import Ingress
import MillraceCore

@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileClientTests {
  static let mutations = 10_000

  @Test func `ten thousand mutated notifications are refused without a crash or memory growth`()
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

    // The first part fills caches and pools. After it, memory must not grow.
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

    // The process still accepts a valid notification.
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 1)
    let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    #expect(try await AppleClient.post(sound.body, port: ingress.port).status == 200)
    ingress.terminate()
    #expect(await ingress.exitStatus() == 0)
  }

  @Test func `the largest version 1 bodies without the secret use little more memory than their size`()
    async throws
  {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let cluster = try await ClusterUnderTest(try TopicCatalog.load(fixture.configuration.topics))
    let ingress = try await IngressProcess(fixture, bootstrapServers: cluster.bootstrapServers)
    let size = 2 << 20
    func body(_ start: String, _ element: String) -> [UInt8] {
      let elements = (size - start.utf8.count - 2) / element.utf8.count
      return Array((start + String(repeating: element, count: elements - 1) + element.dropLast() + "]}").utf8)
    }
    // A body that is trivial to parse fills the socket buffers and pools first.
    let blank = [UInt8](repeating: 0x20, count: size)
    for _ in 0..<4 { #expect(try await AppleClient.post(blank, port: ingress.port, to: "/v1").status == 400) }
    let before = try #require(ingress.peakResidentBytes)
    for element in ["[0],", "{},", "0,", #"{"":0},"#] {
      for start in [#"{"password":"wrong","a":["#, #"{"a":["#, #"{"password":["#] {
        let answer = try await AppleClient.post(body(start, element), port: ingress.port, to: "/v1")
        #expect(answer.status == 401, "\(start) \(element)")
      }
    }
    let after = try #require(ingress.peakResidentBytes)
    print("version 1 without the secret: peak \(before >> 10) kB, then \(after >> 10) kB")
    #expect(after - before < 12 << 20, "the peak of memory went from \(before) to \(after) bytes")
    ingress.terminate()
    #expect(await ingress.exitStatus() == 0)
  }

  @Test func `slow clients are disconnected and do not delay other clients`() async throws {
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
    // The first requests fill caches and pools. After them, memory must not grow.
    for _ in 0..<20 {
      let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
      #expect(try await AppleClient.post(sound.body, port: port).status == 200)
    }
    let before = try #require(ingress.residentBytes)
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<80 {
        group.addTask { try await RawClient.sendAndWaitForTheEnd(beginnings[index % beginnings.count], port: port) }
      }
      // Other clients are served in the meantime, although slow clients outnumber maxRequestsInFlight.
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
