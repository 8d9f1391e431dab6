import MillraceTime
import AppStoreSignature
import Hummingbird
import NIOCore
import Testing

@testable import MillraceCore

@Suite struct HTTPOCSPTransportTests {
  /// Runs a responder on a free port while `body` sends requests.
  private func responding(
    _ answer: @escaping @Sendable (Request) async throws -> Response,
    _ body: (HTTPOCSPTransport, String) async throws -> Void
  ) async throws {
    try await LocalServer.answering(answer) { try await body(HTTPOCSPTransport(patience: .seconds(300)), "\($0)/ocsp") }
  }

  private func fails(_ transport: HTTPOCSPTransport, _ url: String) async -> MillraceError? {
    await #expect(throws: MillraceError.self) { try await transport.query([1], url: url) }
  }

  @Test func `The request is posted and the response is returned byte for byte`() async throws {
    let answer: @Sendable (Request) async throws -> Response = { request in
      let isOCSP = request.headers[.contentType] == "application/ocsp-request"
      let body = try await request.body.collect(upTo: 1_024)
      return Response(status: isOCSP ? .ok : .badRequest, body: .init(byteBuffer: body))
    }
    try await responding(answer) { transport, url in
      let bytes: [UInt8] = [0x30, 0x00, 0xFF]
      let echo = try await transport.query(bytes, url: url)
      #expect(echo == bytes)
    }
  }

  @Test func `Any other status is an error`() async throws {
    try await responding({ _ in Response(status: .internalServerError) }) { transport, url in
      let error = await fails(transport, url)
      #expect(error?.area == .unavailable)
      #expect(error?.description.contains("500") == true)
    }
  }

  @Test func `An oversize response is an error`() async throws {
    let large = ByteBuffer(repeating: 0, count: HTTPOCSPTransport.maxResponseBytes + 1)
    try await responding({ _ in Response(status: .ok, body: .init(byteBuffer: large)) }) { transport, url in
      #expect(await fails(transport, url)?.description.contains("larger than 65536 bytes") == true)
    }
  }

  @Test func `A cancelled request ends early`() async throws {
    let (never, release) = AsyncStream.makeStream(of: Void.self)
    let (asked, arrived) = AsyncStream.makeStream(of: Void.self)
    let answer: @Sendable (Request) async throws -> Response = { _ in
      arrived.yield()
      for await _ in never { break }
      return Response(status: .ok)
    }
    try await responding(answer) { transport, url in
      let question = Task { try await transport.query([1], url: url) }
      for await _ in asked { break }
      question.cancel()
      await #expect(throws: (any Error).self) { try await question.value }
      release.finish()
    }
  }

  @Test func `The error for an unreachable responder names the configuration key`() async {
    // No process listens on port 1 of the loopback interface.
    let error = await fails(HTTPOCSPTransport(patience: .milliseconds(50)), "http://127.0.0.1:1/ocsp")
    #expect(error?.description.contains("trust.revocation") == true)
  }

  @Test(arguments: ["", "ldap://example.com", "file:///etc/passwd"])
  func `Only HTTP URLs are accepted`(url: String) async {
    #expect(await fails(HTTPOCSPTransport(), url)?.description.contains("no HTTP responder") == true)
  }

  @Test func `Revocation is checked only if the configuration enables it`() {
    var settings = TrustSettings.RevocationCheck()
    #expect(settings.checker(clock: .system) == nil)
    settings.enabled = true
    #expect(settings.checker(clock: .system) != nil)
  }
}
