// Posts a notification and classifies the outcome as Apple does.

package import AppStore
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// The outcome of a POST.
package struct PostOutcome: Sendable, Hashable {
  /// The HTTP status; nil if there was no response.
  package var status: Int?
  /// The result as `sendAttempts` names it.
  package var result: SendAttemptResult

  /// The outcome for a response. A status from 200 to 206 is a success.
  package init(status: Int) {
    self.status = status
    result = (200...206).contains(status) ? .success : .unsuccessfulHTTPResponseCode
  }

  /// The outcome if there was no response or it was unreadable.
  package init(_ result: SendAttemptResult) { self.result = result }
}

/// Posts a body to a URL.
package typealias Post = @Sendable (_ url: String, _ body: [UInt8]) async -> PostOutcome

/// Posts over HTTP as the App Store does: JSON, no authentication, no redirects.
struct HTTPPost: Sendable {
  let client: HTTPClient
  let timeout: Duration

  static func client(connections: Int) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func callAsFunction(_ url: String, _ body: [UInt8]) async -> PostOutcome {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "appstore-simulator")
    request.body = .bytes(ByteBuffer(bytes: body))
    do {
      let response = try await client.execute(request, timeout: .nanoseconds(timeout.milliseconds * 1_000_000))
      // Reads the whole body, so that the connection can be reused, but stops at 1 MiB.
      var length = 0
      for try await part in response.body {
        length += part.readableBytes
        if length > 1 << 20 { return PostOutcome(.invalidResponse) }
      }
      return PostOutcome(status: Int(response.status.code))
    } catch {
      return PostOutcome(Self.result(of: error))
    }
  }

  static func result(of error: any Error) -> SendAttemptResult {
    switch error {
    case let error as HTTPClientError:
      switch error {
      case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
        .tlsHandshakeTimeout, .httpProxyHandshakeTimeout:
        .timedOut
      case .remoteConnectionClosed: .prematureClose
      case .redirectCycleDetected, .redirectLimitReached: .circularRedirect
      case .invalidURL, .emptyHost, .missingSocketPath, .emptyScheme: .other
      default: .other
      }
    case is HTTPParserError: .invalidResponse
    case is IOError, is ChannelError: .socketIssue
    default:
      // The errors of NIOSSL and of the connector are matched by name, to avoid a dependency on their modules.
      Self.result(ofTypeNamed: String(reflecting: type(of: error)))
    }
  }

  private static func result(ofTypeNamed name: String) -> SendAttemptResult {
    if name.contains("SSL") || name.contains("TLS") { return .tlsIssue }
    return name.contains("Connection") || name.contains("DNS") ? .socketIssue : .other
  }
}
