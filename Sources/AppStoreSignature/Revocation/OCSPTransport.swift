// The transport for OCSP requests. This module has no HTTP client.
import SwiftASN1
import Synchronization
import X509

/// Sends an OCSP request (RFC 6960, appendix A) to a responder: `POST` with `application/ocsp-request`.
public protocol OCSPTransport: Sendable {
  /// Sends a DER request to the responder at `url` and returns the body of its response.
  ///
  /// Sets no time limit of its own, and ends early if its task is cancelled.
  ///
  /// - Throws: any error if there is no response or its status is not 200.
  func query(_ request: [UInt8], url: String) async throws -> [UInt8]
}

/// Adapts a transport to swift-certificates and records the responses.
final class RecordingRequester: OCSPRequester {
  private let transport: any OCSPTransport
  private let received = Mutex<[[UInt8]]>([])

  init(_ transport: any OCSPTransport) {
    self.transport = transport
  }

  /// The responses, in order of arrival.
  var responses: [[UInt8]] { received.withLock { $0 } }

  func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
    do {
      let response = try await transport.query(request, url: uri)
      received.withLock { $0.append(response) }
      return .response(response)
    } catch {
      // A terminal error: a responder that does not respond must not count as "not revoked".
      return .terminalError(error)
    }
  }
}
