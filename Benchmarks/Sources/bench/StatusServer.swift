// A local OCSP responder, so that programs with Apple's library can check certificates online, as its README shows.
import AppStore
import AppStoreSigning
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Answers for the chain that signs the current notifications. Clients reach it as their HTTP proxy, whatever responder
/// the certificates name.
final class StatusServer: Sendable {
  let port: Int
  private let chain = Mutex<SigningChain?>(nil)

  init() throws { port = try FreePorts.find(1)[0] }

  /// The environment of a program that asks this server.
  var environment: [String: String] { ["http_proxy": "http://127.0.0.1:\(port)"] }

  /// Answers for another chain from now on.
  func serve(_ chain: SigningChain) { self.chain.withLock { $0 = chain } }

  /// Runs until the task is cancelled.
  func run() async throws {
    var logger = Logger(label: "bench")
    // It reports an error if it is cancelled.
    logger.logLevel = .critical
    let application = Application(
      responder: Responder(server: self), configuration: .init(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    try await application.run()
  }

  fileprivate func answer(_ request: [UInt8]) throws -> [UInt8] {
    guard let chain = chain.withLock({ $0 }) else { throw BenchError("there is no chain yet") }
    let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
    // Apple's responses are valid for twelve hours.
    return try OCSPResponder(chain: chain).respond(to: request, thisUpdate: now, nextUpdate: now + .seconds(12 * 3_600))
  }
}

private struct Responder: HTTPResponder {
  typealias Context = BasicRequestContext
  let server: StatusServer

  func respond(to request: Request, context: Context) async throws -> Response {
    let body = try await request.body.collect(upTo: 1 << 16)
    let answer = try server.answer(Array(body.readableBytesView))
    return Response(
      status: .ok, headers: [.contentType: "application/ocsp-response"],
      body: .init(byteBuffer: ByteBuffer(bytes: answer)))
  }
}
