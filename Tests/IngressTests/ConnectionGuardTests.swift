// Limits the cost of a connection. The clients use sockets: some never finish a request, some never read, some do not
// speak HTTP.

import AppStore
import AppStoreSigning
import Foundation
import HTTPTypes
import KafkaClient
import MillraceCore
import MillraceWorker
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestServers
import Testing

@testable import Ingress

@Suite(.timeLimit(.minutes(15))) struct ConnectionGuardTests {
  // Short, because the tests wait until the server closes the connection.
  private let idle = Duration.milliseconds(200)

  private func isMalformedHead(_ received: some StringProtocol) -> Bool {
    received.contains("HTTP/1.1 400") && received.lowercased().contains("connection: close")
      && received.lowercased().contains("content-type: application/problem+json")
      && received.contains(#""status":400"#)
  }

  private let counted =
    #"millrace_ingress_refused_total{reason="malformed-head",status="400",version="none"}"#

  @Test(arguments: [("POST /x", "404"), ("PUT /v2", "405")])
  func `a connection that was answered before its body arrived is closed when it is idle`(
    start: String, status: String
  ) async throws {
    try await IngressFixture().run(details: { $0.idleTimeout = idle }) { (ingress) async throws in
      let received = try await RawClient.exchange(
        [("\(start) HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n", "\r\n\r\n{"), ("x", "")], port: ingress.port)
      #expect(received.contains("HTTP/1.1 \(status)"))
    }
  }

  @Test func `the connection of a client that reads no responses is closed`() async throws {
    try await IngressFixture().run(details: { $0.idleTimeout = idle }) { (ingress) async throws in
      let requests = String(repeating: "GET /x HTTP/1.1\r\nhost: a\r\n\r\n", count: 60_000)
      try await RawClient.sendAndReadNothing(requests, port: ingress.port)
    }
  }

  @Test(arguments: [
    "no HTTP at all\r\n\r\n", "POST /v2 HTTP/1.1\r\nhost: a\r\nx: \(String(repeating: "a", count: 40_000))\r\n\r\n",
    "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n",
  ])
  func `a malformed or oversize head is answered with a problem document and counted`(text: String) async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(text, port: ingress.port)
      #expect(isMalformedHead(received), "\(received)")
      #expect(ingress.metrics.render().contains(counted + " 1"), "\(ingress.metrics.render())")
    }
  }

  @Test func `a request for a tunnel is refused, and its connection closes`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      // The parser stops after such a request. Without the refusal the connection would stay open and collect bytes.
      let received = try await RawClient.sendAndWaitForTheEnd(
        "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n", port: ingress.port)
      #expect(received.hasPrefix("HTTP/1.1 400") && received.lowercased().contains("connection: close"), "\(received)")
      #expect(ingress.metrics.render().contains(#"reason="upgrade",status="400""#))
    }
  }

  /// The header fields with which clients offer HTTP/2, as Java's and curl's do, and other protocols.
  private static let offers = [
    "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\n",
    "connection: upgrade\r\nupgrade: websocket\r\n", "upgrade: h2c\r\n",
  ]

  @Test(arguments: offers)
  func `an offer of another protocol is ignored, and the notification is taken`(offer: String) async throws {
    let fixture = try IngressFixture()
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 61)
    let notification = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    let body = String(decoding: notification.body, as: UTF8.self)
    try await fixture.run { (ingress) async throws in
      func post(_ fields: String) -> String {
        "POST /v2 HTTP/1.1\r\nhost: a\r\n\(fields)content-length: \(body.utf8.count)\r\n\r\n"
      }
      let whole = try await RawClient.sendAndWaitForTheEnd(post(offer) + body, port: ingress.port)
      #expect(whole.hasPrefix("HTTP/1.1 200") && whole.lowercased().contains("connection: close"), "\(whole)")
      // With `Expect`, the body comes after a response. The request before keeps the connection open.
      let parts = try await RawClient.exchange(
        [
          ("GET /x HTTP/1.1\r\nhost: a\r\n\r\n", "HTTP/1.1 404"),
          (post("\(offer)expect: 100-continue\r\n"), "HTTP/1.1 100"), (body, "HTTP/1.1 200"),
        ], port: ingress.port)
      #expect(parts.hasPrefix("HTTP/1.1 404"), "\(parts)")
      #expect(parts.lowercased().components(separatedBy: "connection: close").count == 2, "\(parts)")
      let records = try await ingress.records(of: "appstore.notifications.tests")
      #expect(records.count == 2 && Set(records.map(\.value)).count == 1)
      #expect(!ingress.metrics.render().contains("millrace_ingress_refused_total{reason=\"upgrade\""))
    }
  }

  @Test(arguments: offers)
  func `a refusal of a request with an offer closes the connection, too`(offer: String) async throws {
    try await IngressFixture().run { (ingress) async throws in
      for (start, status) in [("GET /v2", "405"), ("POST /x", "404"), ("POST /v2", "400")] {
        let received = try await RawClient.sendAndWaitForTheEnd(
          "\(start) HTTP/1.1\r\nhost: a\r\n\(offer)content-length: 2\r\n\r\n{}", port: ingress.port)
        #expect(received.hasPrefix("HTTP/1.1 \(status)"), "\(received)")
        #expect(received.lowercased().contains("connection: close"), "\(received)")
      }
    }
  }

  @Test func `nothing is read behind a request with an offer, because the parser would collect it`() throws {
    let reads = ReadCounter()
    let channel = EmbeddedChannel()
    let limits = ConnectionGuard.Limits(head: .seconds(1), body: .seconds(1), idle: .seconds(1))
    try channel.pipeline.syncOperations.addHandlers([
      reads,
      ConnectionGuard(
        limits: limits, refusal: RefusedRequest.malformedHead.problem.closingParts, invites: { _ in false }),
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    func read() -> Int {
      let before = reads.count
      channel.read()
      return reads.count - before
    }
    var head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/v2")
    for part in [HTTPRequestPart.head(head), .end(nil)] { try channel.writeInbound(part) }
    #expect(read() == 1)
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    try channel.writeOutbound(HTTPResponsePart.end(nil))
    head.headerFields[.upgrade] = "h2c"
    try channel.writeInbound(HTTPRequestPart.head(head))
    #expect(read() == 1, "the body has to be read")
    try channel.writeInbound(HTTPRequestPart.end(nil))
    #expect(read() == 0)
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    try channel.writeOutbound(HTTPResponsePart.end(nil))
    #expect(!channel.isActive)
  }

  @Test func `the response to HEAD has no body`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.exchange(
        [
          ("HEAD /v2 HTTP/1.1\r\nhost: a\r\n\r\n", "\r\n\r\n"), ("GET /x HTTP/1.1\r\nhost: a\r\n\r\n", "HTTP/1.1 404"),
          ("no HTTP at all\r\n\r\n", ""),
        ], port: ingress.port)
      #expect(received.hasPrefix("HTTP/1.1 405"))
      #expect(
        received.components(separatedBy: "\r\n\r\n").dropFirst().first?.hasPrefix("HTTP/1.1 404") == true, "\(received)"
      )
    }
  }

  @Test func `a malformed head after a request is answered after that request`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(
        "GET /x HTTP/1.1\r\nhost: a\r\n\r\nno HTTP at all\r\n\r\n", port: ingress.port)
      #expect(received.hasPrefix("HTTP/1.1 404"), "\(received)")
      #expect(isMalformedHead(received), "\(received)")
      #expect(received.components(separatedBy: "HTTP/1.1 ").count == 3, "\(received)")
    }
  }

  @Test func `a client that expects 100-continue receives it and its answer`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.bodyTimeout = .seconds(20)
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 53)
    let bodies = try (0..<2).map { _ in
      try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate).body
    }
    try await fixture.run { (ingress) async throws in
      let steps = bodies.flatMap { body -> [RawClient.Step] in
        let head = "POST /v2 HTTP/1.1\r\nhost: a\r\nexpect: 100-Continue\r\ncontent-length: \(body.count)\r\n\r\n"
        return [(head, "HTTP/1.1 100 Continue\r\n\r\n"), (String(decoding: body, as: UTF8.self), "HTTP/1.1 200")]
      }
      // Twice over one connection: the first exchange must not affect the second.
      let received = try await RawClient.exchange(
        Array(steps.prefix(2)) + [("GET /x HTTP/1.1\r\nhost: a\r\n\r\n", "HTTP/1.1 404")] + Array(steps.suffix(2))
          + [("no HTTP at all\r\n\r\n", "")], port: ingress.port)
      #expect(received.components(separatedBy: "HTTP/1.1 100 Continue\r\n\r\n").count == 3, "\(received)")
      #expect(received.components(separatedBy: "HTTP/1.1 200").count == 3, "\(received)")
    }
  }

  @Test(arguments: [
    ("POST /x", "5", "404"), ("PUT /v2", "5", "405"), ("POST /v2", "999999999", "413"), ("POST /v1", "2000000", "401"),
  ])
  func `a client that expects 100-continue is refused without it if its body would be refused`(
    start: String, length: String, status: String
  ) async throws {
    var fixture = try IngressFixture()
    fixture.configuration.apps[0].sharedSecretFiles = []
    fixture.configuration.ingress.bodyTimeout = .seconds(20)
    try await fixture.run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(
        "\(start) HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: \(length)\r\n\r\n",
        port: ingress.port)
      #expect(received.hasPrefix("HTTP/1.1 \(status)"), "\(received)")
      #expect(received.lowercased().contains("connection: close"), "\(received)")
      #expect(!ingress.metrics.render().contains(#"reason="incomplete-body""#))
    }
  }

  @Test func `version 1 is refused before the body if no app has a shared secret`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.apps[0].sharedSecretFiles = []
    fixture.configuration.ingress.bodyTimeout = .seconds(2)
    try await fixture.run { (ingress) async throws in
      // The client sends no body, so an answer that needed it would never come.
      let received = try await RawClient.sendAndWaitForTheEnd(
        "POST /v1 HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000\r\n\r\n", port: ingress.port)
      #expect(received.hasPrefix("HTTP/1.1 401"), "\(received)")
      #expect(
        ingress.metrics.render().contains(
          #"millrace_ingress_refused_total{reason="no-shared-secret",status="401",version="v1"} 1"#))
    }
  }

  @Test func `a chunked body that is malformed is refused once`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(
        "POST /v2 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nnot hexadecimal\r\n", port: ingress.port)
      #expect(received.components(separatedBy: "HTTP/1.1 400").count == 2, "\(received)")
      #expect(ingress.metrics.render().contains(#"reason="incomplete-body""#))
    }
  }

  @Test func `unfinished bodies beyond maxRequestsInFlight do not displace genuine notifications`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.maxRequestsInFlight = 2
    fixture.configuration.ingress.bodyTimeout = .seconds(2)
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 51)
    let sound = try (0..<20).map { _ in
      try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate).body
    }
    try await fixture.run { (ingress) async throws in
      let port = ingress.port
      // Each slow client receives one answer before it begins the body that it never finishes.
      let (begun, sink) = AsyncStream.makeStream(of: Void.self)
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<16 {
          group.addTask {
            let slow = "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\n{"
            return try await RawClient.exchange(
              [("GET /x HTTP/1.1\r\nhost: a\r\n\r\n" + slow, "404")], port: port, onLastStep: { sink.yield() })
          }
        }
        var started = begun.makeAsyncIterator()
        for _ in 0..<16 { _ = await started.next() }
        for body in sound { #expect(try await ingress.post(body).status == 200) }
        for try await received in group { #expect(!received.contains("HTTP/1.1 200"), "\(received)") }
      }
      #expect(!ingress.metrics.render().contains(#"reason="busy""#))
    }
  }

  /// The rest of the body is read and dropped. Closing at once would reset the connection, which loses the response.
  @Test func `a client that reads only after its whole body gets the refusal`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      let body = String(repeating: " ", count: 8 << 20)
      for _ in 0..<5 {
        let received = try await RawClient.sendBeforeReading(
          "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.utf8.count)\r\n\r\n" + body, port: ingress.port)
        #expect(received.hasPrefix("HTTP/1.1 413"), "\(received)")
        #expect(received.components(separatedBy: "HTTP/1.1").count == 2)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a body beyond the budget is answered with 503 and releases its bytes`(isChunked: Bool) async throws {
    let fixture = try IngressFixture()
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 52)
    let sound = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate).body
    try await fixture.run(details: { $0.bodyBudget = 48 << 10 }) { (ingress) async throws in
      for _ in 0..<4 {
        let answer = try await ingress.post([UInt8](repeating: 0x20, count: 60_000), isChunked: isChunked)
        #expect(answer.status == 503)
        #expect(answer.retryAfter != nil)
        #expect(try await ingress.post(sound, isChunked: isChunked).status == 200)
      }
      #expect(ingress.metrics.render().contains(#"reason="busy""#))
    }
  }
}

/// Counts the reads that reach the socket.
private final class ReadCounter: ChannelOutboundHandler {
  typealias OutboundIn = Any
  var count = 0

  func read(context: ChannelHandlerContext) {
    count += 1
    context.read()
  }
}
