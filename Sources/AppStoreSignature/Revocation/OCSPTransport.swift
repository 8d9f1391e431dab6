// How an OCSP request reaches its responder. HTTP lives elsewhere: this module has no network.
import SwiftASN1
import Synchronization
import X509

/// Carries an OCSP request (RFC 6960, appendix A) to a responder: `POST` with `application/ocsp-request`.
public protocol OCSPTransport: Sendable {
  /// Sends `request`, DER, to the responder at `url` and returns the body of its answer.
  ///
  /// Sets no time limit of its own; ends early when its task is cancelled.
  /// - Throws: anything for an answer that did not come or whose status is not 200.
  func query(_ request: [UInt8], url: String) async throws -> [UInt8]
}

/// Fits a transport into swift-certificates, and keeps what came back.
final class RecordingRequester: OCSPRequester {
  private let transport: any OCSPTransport
  private let received = Mutex<[[UInt8]]>([])

  init(_ transport: any OCSPTransport) {
    self.transport = transport
  }

  /// The answers, in the order they came.
  var responses: [[UInt8]] { received.withLock { $0 } }

  func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
    do {
      let response = try await transport.query(request, url: uri)
      received.withLock { $0.append(response) }
      return .response(response)
    } catch {
      // Terminal: a responder that does not answer must not count as "not revoked".
      return .terminalError(error)
    }
  }
}
