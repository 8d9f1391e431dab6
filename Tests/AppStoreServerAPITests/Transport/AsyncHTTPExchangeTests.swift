// Tests the real exchange with connections that fail in every way.

import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct AsyncHTTPExchangeTests {
  private func request(_ url: String, _ method: APIEndpoint.Method = .get, body: [UInt8]? = nil) -> ExchangeRequest {
    ExchangeRequest(method: method, url: url + "/inApps/v1/x?y=z", headers: ["Authorization": "Bearer t"], body: body)
  }

  /// Sends one request over its own connection.
  private func send(
    _ request: ExchangeRequest, _ configuration: AsyncHTTPExchange.Configuration = .init()
  ) async throws -> Result<ExchangeAnswer, TransportFailure> {
    let exchange = AsyncHTTPExchange(configuration)
    let result: Result<ExchangeAnswer, TransportFailure>
    do {
      result = .success(try await exchange.send(request))
    } catch {
      result = .failure(error)
    }
    try await exchange.shutdown()
    return result
  }

  private func head(_ status: String, _ fields: String...) -> String {
    (["HTTP/1.1 \(status)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  @Test func `a response has status, header fields and body, and the request has its own`() async throws {
    let answer = head("418 Teapot", "X-One: 1", "Content-Length: 2") + "ok"
    try await WireServer.serving(answer, .hold) { (server) async throws in
      let found = try await send(request(server.url, .put, body: Array("{}".utf8))).get()
      #expect(found.status == 418)
      #expect(found.headers["x-one"] == "1")
      #expect(found.body == Array("ok".utf8))
      #expect(found.isComplete)
      let sent = try #require(server.requests.first)
      #expect(sent.hasPrefix("PUT /inApps/v1/x?y=z HTTP/1.1\r\n"))
      #expect(sent.contains("Authorization: Bearer t\r\n"))
      #expect(!sent.lowercased().contains("traceparent"))
    }
  }

  @Test func `connections are reused`() async throws {
    let exchange = AsyncHTTPExchange()
    try await WireServer.serving(head("200 OK", "Content-Length: 0"), .hold) { (server) async throws in
      for _ in 0..<5 { #expect(try await exchange.send(request(server.url)).status == 200) }
      try await exchange.shutdown()
      var closings = server.closings.makeAsyncIterator()
      await closings.next()
      #expect(server.requests.count == 5)
    }
  }

  @Test func `after a refused connection the request is known to be unsent`() async throws {
    let url = try await WireServer.serving("", .close) { server in server.url }
    let failure = try #require(try await send(request(url)).failure)
    #expect(failure.progress == .notSent, "\(failure)")
    #expect(!failure.isCancellation)
  }

  @Test(arguments: [WireServer.Ending.reset, .close])
  func `a connection that ends before the response leaves the result unclear`(ending: WireServer.Ending) async throws {
    try await WireServer.serving("", ending) { (server) async throws in
      let failure = try #require(try await send(request(server.url)).failure)
      #expect(failure.progress == .unclear, "\(failure)")
    }
  }

  @Test(arguments: [WireServer.Ending.reset, .close])
  func `a truncated body keeps its status`(ending: WireServer.Ending) async throws {
    try await WireServer.serving(head("503 No", "Content-Length: 100") + "{\"errorCode\":", ending) {
      (server) async throws in
      let answer = try await send(request(server.url)).get()
      #expect(answer.status == 503)
      #expect(!answer.isComplete)
    }
  }

  @Test func `a response that is not HTTP is a failure`() async throws {
    try await WireServer.serving("SSH-2.0-OpenSSH_9.2\r\n\r\n", .close) { (server) async throws in
      #expect(try await send(request(server.url)).failure?.progress == .unclear)
    }
  }

  @Test func `a body above the size limit is not read`() async throws {
    var configuration = AsyncHTTPExchange.Configuration()
    configuration.maxBodyBytes = 10
    for (body, isAccepted) in [("0123456789", true), ("0123456789A", false)] {
      let answer = head("200 OK", "Content-Length: \(body.count)") + body
      try await WireServer.serving(answer, .hold) { (server) async throws in
        let result = try await send(request(server.url), configuration)
        #expect((result.failure == nil) == isAccepted)
        if !isAccepted { #expect(result.failure?.what.contains("10 bytes") == true) }
      }
    }
  }

  @Test func `a redirect is returned, and the token is not sent elsewhere`() async throws {
    try await WireServer.serving(head("200 OK", "Content-Length: 0"), .hold) { (other) async throws in
      let moved = head("302 Found", "Location: \(other.url)/x", "Content-Length: 0")
      try await WireServer.serving(moved, .hold) { (server) async throws in
        #expect(try await send(request(server.url)).get().status == 302)
        #expect(other.requests.isEmpty)
      }
    }
  }

  @Test func `cancelling the task closes the connection`() async throws {
    let exchange = AsyncHTTPExchange()
    try await WireServer.serving("", .hold) { (server) async throws in
      let sending = Task { try await exchange.send(request(server.url)) }
      var arrivals = server.arrivals.makeAsyncIterator()
      await arrivals.next()
      sending.cancel()
      let failure = await sending.result.failure as? TransportFailure
      #expect(failure?.isCancellation == true)
      #expect(failure?.progress == .unclear)
      var closings = server.closings.makeAsyncIterator()
      await closings.next()
    }
    try await exchange.shutdown()
  }

  @Test func `a request with an invalid URL is not sent`() async throws {
    for url in ["", "api.storekit.apple.com", "ftp://127.0.0.1"] {
      let failure = try #require(try await send(request(url)).failure)
      #expect(failure.progress == .notSent, "\(url): \(failure)")
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
