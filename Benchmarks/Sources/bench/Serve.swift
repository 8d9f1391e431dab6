// The baseline servers for the ingress: the same HTTP server with the same settings and less work. The last one is the
// endpoint of an HTTP worker.
import AppStore
import ArgumentParser
import Crypto
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a baseline server for the ingress until it is stopped.", shouldDisplay: false)

  enum Kind: String, ExpressibleByArgument {
    /// Answers 200 without any check.
    case blind
    /// Checks the raw signatures of the posted token and of two inner ones, and nothing else.
    case checks
    /// Checks the raw signature of the posted token, and nothing else.
    case check
    /// Answers 204 without reading the request.
    case nothing
  }

  @Argument var kind: Kind
  @Option var port: Int
  @Option(
    help: "A file with a notification. Its inner tokens are checked, and its leaf signed all posted tokens.")
  var token: String?

  func run() async throws {
    var responder = BaselineResponder(status: kind == .nothing ? .noContent : .ok)
    if kind == .check || kind == .checks {
      guard let token, let jws = FileManager.default.contents(atPath: token) else {
        throw BenchError("cannot read the token \(token ?? "")")
      }
      let checks = try Token(genuine: Array(jws)).checks
      responder.checks = kind == .check ? Array(checks.prefix(1)) : checks
    }
    var logger = Logger(label: "bench")
    logger.logLevel = .error
    // The same server as in Ingress/IngressServer.swift, with its usual executor.
    let server = HTTPServerBuilder.http1(
      configuration: .init(
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)))
    let application = Application(
      responder: responder, server: server, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    try await application.runService()
  }
}

/// Answers 200 after the configured signature checks.
struct BaselineResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  /// The status of a request that passes.
  var status = HTTPResponse.Status.ok
  /// The outer token, then the inner ones.
  var checks: [RawCheck] = []

  func respond(to request: Request, context: Context) async throws -> Response {
    guard let outer = checks.first else { return Response(status: status) }
    let body = try await request.body.collect(upTo: 1 << 20)
    guard let posted = PostedToken(body.readableBytesView),
      outer.key.isValidSignature(posted.signature, for: posted.message),
      checks.dropFirst().allSatisfy({ $0.check() })
    else { return Response(status: .unauthorized) }
    return Response(status: status)
  }
}

/// The token in `{"signedPayload":"…"}`. Searching from the end is the fastest.
private struct PostedToken {
  let message: ByteBufferView.SubSequence
  let signature: P256.Signing.ECDSASignature

  init?(_ body: ByteBufferView) {
    let prefix = "{\"signedPayload\":\"".utf8.count
    guard let dot = body.lastIndex(of: UInt8(ascii: ".")), body.count > prefix + 2,
      let bytes = Base64.decodeURL(body[(dot + 1)...].dropLast(2))
    else { return nil }
    message = body[(body.startIndex + prefix)..<dot]
    do {
      signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes)
    } catch {
      // A signature has 64 bytes.
      return nil
    }
  }
}
