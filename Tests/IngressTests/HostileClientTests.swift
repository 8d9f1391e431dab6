// What the internet sends: broken bodies and slow clients, against the real process.

import AppStore
import AppStoreSigning
import Foundation
import Kafka
import Logging
import Millrace
import NIOCore
import NIOHTTP1
import NIOPosix
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
    let bodies = (0..<Self.mutations).map { _ in mutator.next() }

    // The first part fills caches and pools; what follows must not grow.
    let warm = Self.mutations / 4
    let load = Load()
    await load.run(Array(bodies[..<warm]), port: ingress.port, clients: 32)
    let before = try #require(ingress.residentBytes)
    let rest = Load()
    await rest.run(Array(bodies[warm...]), port: ingress.port, clients: 32)
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
    let ingress = try await IngressProcess(fixture, bootstrapServers: cluster.bootstrapServers)
    let beginnings = [
      "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-le",
      "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\n{\"signedPayload\":\"",
      "POST /v1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc",
      "",
    ]
    let port = ingress.port
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<80 {
        group.addTask { try await Self.sendAndWaitForTheEnd(beginnings[index % beginnings.count], port: port) }
      }
      // In the meantime others are served.
      var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 1)
      for _ in 0..<20 {
        let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
        #expect(try await AppleClient.post(sound.body, port: port).status == 200)
      }
      for try await received in group { #expect(!received.contains("200"), "\(received)") }
    }
    ingress.terminate()
    #expect(await ingress.exitStatus() == 0)
  }

  /// Sends, then reads until the server closes; returns what it sent.
  private static func sendAndWaitForTheEnd(_ text: String, port: Int) async throws -> String {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
      var received = ""
      do {
        for try await part in inbound { received += String(buffer: part) }
      } catch is IOError {
        // A reset is an end too.
      }
      return received
    }
  }
}

/// Sound notifications made unsound, the same ones for the same seed. Changes lie inside what is signed or secret, so
/// that none can leave a notification valid.
struct NotificationMutator {
  private var random: SeededGenerator
  private let tokens: [[UInt8]]

  init(_ fixture: IngressFixture, seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: seed)
    tokens = try samples.everyKind(from: IngressFixture.signedDate).map(\.jws)
  }

  mutating func next() -> [UInt8] {
    var token = tokens.randomElement(using: &random) ?? []
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      for _ in 0..<Int.random(in: 1...4, using: &random) { change(&token) }
    case 1: token.removeLast(Int.random(in: 1..<token.count, using: &random))
    case 2: token.remove(at: Int.random(in: 0..<token.count, using: &random))
    case 3: token.insert(UInt8(ascii: "A"), at: Int.random(in: 0..<token.count, using: &random))
    case 4:
      let other = tokens.randomElement(using: &random) ?? []
      let segments = token.split(separator: UInt8(ascii: "."))
      let others = other.split(separator: UInt8(ascii: "."))
      token = Array(segments[0]) + [46] + Array(others[1]) + [46] + Array(segments[2])
      if other == tokens.first(where: { $0 == token }) { change(&token) }
    default:
      let segments = token.split(separator: UInt8(ascii: "."))
      token = Array(segments.shuffled(using: &random).joined(separator: [46]))
      if tokens.contains(token) { change(&token) }
    }
    return Array(#"{"signedPayload":""#.utf8) + token + Array(#""}"#.utf8)
  }

  private mutating func change(_ token: inout [UInt8]) {
    let index = Int.random(in: 0..<token.count, using: &random)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=".utf8)
    token[index] = alphabet.filter { $0 != token[index] }.randomElement(using: &random) ?? 0x21
  }
}
