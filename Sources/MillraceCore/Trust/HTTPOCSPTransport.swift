// Sends requests to an OCSP responder over HTTP. AppStoreSignature validates the answers.

internal import AppStoreSignature
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Queries OCSP responders by HTTP POST (RFC 6960, appendix A.1). Apple's responder is `http://ocsp.apple.com`.
package struct HTTPOCSPTransport: OCSPTransport {
  /// The largest accepted answer, in bytes. Apple's answers have about 2 kB.
  static let maxResponseBytes = 64 << 10
  /// The time limit for the HTTP client, which otherwise keeps trying to connect. Longer than any limit of a caller.
  private let patience: Duration

  /// Creates a transport that uses the process's shared HTTP client.
  package init() { self.init(patience: .seconds(15)) }

  init(patience: Duration) { self.patience = patience }

  /// Posts one request and returns the answer.
  ///
  /// - Throws: ``MillraceError`` with the area `unavailable` unless the answer is a 200 of at most 64 KiB.
  package func query(_ request: [UInt8], url: String) async throws -> [UInt8] { try await post(request, to: url) }

  private func post(_ body: [UInt8], to url: String) async throws(MillraceError) -> [UInt8] {
    guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
      throw Self.unavailable("the certificate names no HTTP responder", url)
    }
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/ocsp-request")
    request.headers.add(name: "Accept", value: "application/ocsp-response")
    request.body = .bytes(ByteBuffer(bytes: body))
    do {
      let response = try await HTTPClient.shared.execute(request, timeout: .milliseconds(patience.wholeMilliseconds))
      guard response.status == .ok else {
        throw Self.unavailable("the OCSP responder answered \(response.status.code)", url)
      }
      return Array((try await response.body.collect(upTo: Self.maxResponseBytes)).readableBytesView)
    } catch let error as MillraceError {
      throw error
    } catch is NIOTooManyBytesError {
      throw Self.unavailable("the OCSP responder's answer is larger than \(Self.maxResponseBytes) bytes", url)
    } catch {
      throw Self.unavailable("the OCSP responder did not answer: \(error)", url)
    }
  }

  private static func unavailable(_ what: String, _ url: String) -> MillraceError {
    MillraceError(
      .unavailable, what, at: url,
      remedy: "check that this host can reach it over plain HTTP, or set trust.revocation.enabled to false")
  }
}
