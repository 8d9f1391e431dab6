// Tests the real exchange with a server that speaks HTTP/2 over TLS, like Apple's.

import AppStore
import AsyncHTTPClient
import MillraceTime
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import TestServers
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct HTTP2Tests {
  /// Runs `body` with an exchange that trusts the server.
  private func talking(
    upTo version: TLSVersion? = nil, _ answer: @escaping HTTP2Server.Answer,
    _ body: (HTTP2Server, AsyncHTTPExchange) async throws -> Void
  ) async throws {
    let certificate = try TestCertificate("server")
    let client = try trusting(certificate)
    try await HTTP2Server.serving(certificate, upTo: version, answer) { (server) async throws in
      let exchange = AsyncHTTPExchange(.init(), client: client)
      do {
        try await body(server, exchange)
        try await exchange.shutdown()
      } catch {
        try await exchange.shutdown()
        throw error
      }
    }
  }

  /// A client's settings with the library's defaults.
  private func trusting(_ certificate: TestCertificate) throws -> HTTPClient.Configuration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.pem.utf8)))
    return HTTPClient.Configuration(tlsConfiguration: tls)
  }

  private func request(_ server: HTTP2Server, _ path: String = "/x", body: [UInt8]? = nil) -> ExchangeRequest {
    ExchangeRequest(
      method: body == nil ? .get : .put, url: server.url + path, headers: ["Authorization": "Bearer t"], body: body)
  }

  /// Answers all paths except the given one, whose stream stays open.
  private static func all(but held: String) -> HTTP2Server.Answer { { $0.contains(held) ? nil : 200 } }

  @Test func `a hundred calls are a hundred streams of one HTTP/2 connection`() async throws {
    try await talking({ _ in 202 }) { (server, exchange) async throws in
      // The first request negotiates the protocol.
      #expect(try await exchange.send(request(server)).status == 202)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for call in 1..<100 {
          let request = request(server, "/\(call)", body: call % 2 == 0 ? Array("{}".utf8) : nil)
          group.addTask { try await exchange.send(request).status }
        }
        for try await status in group { #expect(status == 202) }
      }
      #expect(server.connections == 1)
      #expect(server.requests.count == 100)
      #expect(Set(server.requests.compactMap { $0.first(name: ":path") }).count == 100)
      #expect(server.requests.allSatisfy { $0.first(name: "authorization") == "Bearer t" })
      #expect(server.requests.allSatisfy { !$0.contains(name: "traceparent") })
      #expect(server.resetCodes.isEmpty)
    }
  }

  @Test func `a server with TLS 1.2 is called, and one with TLS 1.1 gets no request`() async throws {
    try await talking(upTo: .tlsv12, { _ in 200 }) { (server, exchange) async throws in
      #expect(try await exchange.send(request(server)).status == 200)
    }
    let certificate = try TestCertificate("server")
    let settings = try trusting(certificate)
    try await HTTP2Server.serving(certificate, upTo: .tlsv11, { _ in 200 }) { (server) async throws in
      let exchange = AsyncHTTPExchange(.init(), client: settings)
      let failure = await #expect(throws: TransportFailure.self) { try await exchange.send(request(server)) }
      try await exchange.shutdown()
      #expect(failure != nil && server.requests.isEmpty)
      // A client with the library's defaults shows that the server works.
      let other = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
      let answer = try await other.execute(HTTPClientRequest(url: server.url + "/x"), timeout: .seconds(60))
      try await other.shutdown()
      #expect("\(answer.status)".hasPrefix("200") && server.requests.count == 1)
    }
  }

  @Test func `a cancelled call resets its stream, and the connection serves the others`() async throws {
    try await talking(Self.all(but: "held")) { (server, exchange) async throws in
      #expect(try await exchange.send(request(server)).status == 200)
      let held = request(server, "/held")
      let sending = Task { try await exchange.send(held) }
      var arrivals = server.arrivals.makeAsyncIterator()
      for _ in 0..<2 { await arrivals.next() }
      sending.cancel()
      let failure = await #expect(throws: TransportFailure.self) { try await sending.value }
      #expect(failure?.isCancellation == true && failure?.progress == .unclear)
      for await _ in server.resets { break }
      #expect(server.resetCodes == [.cancel])
      #expect(try await exchange.send(request(server)).status == 200)
      #expect(server.connections == 1)
    }
  }

  @Test func `a deadline resets the stream of its call, and the connection serves the next`() async throws {
    let fixture = try APIFixture()
    try await talking(Self.all(but: "/77/")) { (server, exchange) async throws in
      let client = try fixture.client(
        exchange, baseURLs: APIBaseURLs(production: server.url, sandbox: server.url), timeLimit: .seconds(30))
      #expect(try await client.finishTransaction("76", in: .production).status == 200)
      async let failing = apiError { () async throws(APIError) in
        try await client.finishTransaction("77", in: .production)
      }
      var arrivals = server.arrivals.makeAsyncIterator()
      for _ in 0..<2 { await arrivals.next() }
      await fixture.manual.waitForSleepers()
      fixture.manual.advance(by: .seconds(30))
      let error = try #require(await failing)
      #expect(error.kind == .deadline && error.isUnclear)
      for await _ in server.resets { break }
      #expect(server.resetCodes == [.cancel])
      #expect(try await client.finishTransaction("78", in: .sandbox).status == 200)
      #expect(server.connections == 1)
    }
  }
}
