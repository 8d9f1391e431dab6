// Reads records with kcat and compares them byte for byte with the posted bodies. kcat shares only librdkafka with us.

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

private let kcat = ["/usr/bin/kcat", "/usr/local/bin/kcat", "/opt/homebrew/bin/kcat"]
  .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite(.enabled(if: kcat != nil, "kcat is not installed"), .timeLimit(.minutes(15))) struct KcatTests {
  @Test func `kcat reads the JWS as posted, and the version 1 body without its password`() async throws {
    let fixture = try IngressFixture()
    var v2 = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 31)
    let signed = try v2.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate)
    var v1 = SampleNotificationsV1(app: fixture.app, password: IngressFixture.password, seed: 32)
    let posted = v1.next(.didRenew, at: IngressFixture.signedDate).body
    // A format that Apple might use one day: more white space, and a character that is not ASCII.
    let spaced = Array(
      String(decoding: posted, as: UTF8.self).replacing(",\"", with: " ,\n  \"").replacing("421", with: "4.2.1 – é")
        .utf8)
    let without = String(decoding: spaced, as: UTF8.self)
      .replacing("\"password\":\"\(IngressFixture.password)\" ,\n  ", with: "")
    try await fixture.run { (ingress) async throws in
      #expect(try await ingress.post(signed.body).status == 200)
      #expect(try await ingress.post(spaced, to: "/v1").status == 200)
      let servers = ingress.cluster.bootstrapServers
      let topic = try #require(ingress.catalog.topic(named: "appstore.notifications.subscriptions")).topic
      let first = try await Self.run([
        "-b", servers, "-C", "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%s\u{1E}",
      ])
      let values = Set(first.split(separator: 0x1E).map { [UInt8]($0) })
      #expect(values == [signed.jws, Array(without.utf8)])
      let headers = try await Self.run([
        "-b", servers, "-C", "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%k %h\n",
      ])
      let text = String(decoding: headers, as: UTF8.self)
      #expect(text.contains("ce_id=\(signed.notificationUUID)"))
      #expect(text.contains("\(signed.orderingKey) "))
    }
  }

  private static func run(_ arguments: [String]) async throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(kcat))
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try ProcessStart.alone { try process.run() }
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        continuation.resume(returning: data)
      }
    }
  }
}
