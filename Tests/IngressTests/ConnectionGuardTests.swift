// What a connection costs at most, through sockets: clients that begin and do not end, that do not read, that speak no
// HTTP.

import AppStore
import AppStoreSigning
import Foundation
import Millrace
import Testing

@testable import Ingress

@Suite(.timeLimit(.minutes(15))) struct ConnectionGuardTests {
  // Short enough to wait for, in a test that ends when the server closes the connection.
  private let idle = Duration.milliseconds(200)

  private func isMalformedHead(_ received: some StringProtocol) -> Bool {
    received.contains("HTTP/1.1 400") && received.lowercased().contains("connection: close")
      && received.lowercased().contains("content-type: application/problem+json")
      && received.contains(#""status":400"#)
  }

  private let counted =
    #"millrace_ingress_refused_total{reason="malformed-head",status="400",version="none"}"#

  @Test(arguments: [("POST /x", "404"), ("PUT /v2", "405")])
  func `a connection whose answer came before its body is closed when nothing follows`(
    start: String, status: String
  ) async throws {
    try await IngressFixture().run(details: { $0.idleTimeout = idle }) { (ingress) async throws in
      let received = try await RawClient.exchange(
        [("\(start) HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n", "\r\n\r\n{"), ("x", "")], port: ingress.port)
      #expect(received.contains("HTTP/1.1 \(status)"))
    }
  }

  @Test func `a client that reads none of its answers is closed`() async throws {
    try await IngressFixture().run(details: { $0.idleTimeout = idle }) { (ingress) async throws in
      let requests = String(repeating: "GET /x HTTP/1.1\r\nhost: a\r\n\r\n", count: 60_000)
      try await RawClient.sendAndReadNothing(requests, port: ingress.port)
    }
  }

  @Test(arguments: [
    "no HTTP at all\r\n\r\n", "POST /v2 HTTP/1.1\r\nhost: a\r\nx: \(String(repeating: "a", count: 40_000))\r\n\r\n",
    "POST /v2 HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n",
  ])
  func `a head that is no HTTP, or too large, is answered with a problem and counted`(text: String) async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(text, port: ingress.port)
      #expect(isMalformedHead(received), "\(received)")
      #expect(ingress.metrics.render().contains(counted + " 1"), "\(ingress.metrics.render())")
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

  @Test func `a chunked body that is malformed is refused once`() async throws {
    try await IngressFixture().run { (ingress) async throws in
      let received = try await RawClient.sendAndWaitForTheEnd(
        "POST /v2 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nnot hexadecimal\r\n", port: ingress.port)
      #expect(received.components(separatedBy: "HTTP/1.1 400").count == 2, "\(received)")
      #expect(ingress.metrics.render().contains(#"reason="incomplete-body""#))
    }
  }

  @Test func `more bodies that never end than there are places take no place from a genuine one`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.maxRequestsInFlight = 2
    fixture.configuration.ingress.bodyTimeout = .seconds(2)
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 51)
    let sound = try (0..<20).map { _ in
      try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate).body
    }
    try await fixture.run { (ingress) async throws in
      let port = ingress.port
      // Each slow client has had an answer before it begins the body that it never ends.
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

  @Test(arguments: [false, true])
  func `a body beyond the budget is answered 503, and gives back what it held`(isChunked: Bool) async throws {
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
