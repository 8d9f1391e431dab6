// The HTTP listener for one environment. The pipeline decides the response.

internal import AppStore
internal import AsyncHTTPClient
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// A request as the simulator received it.
struct IncomingRequest: Sendable {
  var environment: AppStoreEnvironment
  var method: HTTPRequest.Method
  /// As received, without the query.
  var path: String
  /// In order of appearance, including repeated parameters.
  var query: [(name: String, value: String)]
  var authorization: String?
  var body: [UInt8]
}

/// Listens on one port.
struct APIListener: Sendable {
  /// Far larger than any documented request; images are the largest.
  private static let maximumBody = 1 << 24

  let environment: AppStoreEnvironment
  let host: String
  let port: Int
  let respond: @Sendable (IncomingRequest) async throws -> WireOutcome
  let now: @Sendable () -> Timestamp
  let onListening: @Sendable (Int) async -> Void
  let logger: Logger

  /// Returns the service that listens.
  func service() throws -> any Service {
    try HTTPServerBuilder.http1().buildServer(
      configuration: ServerConfiguration(address: .hostname(host, port: port), serverName: nil),
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, logger: logger,
      responder: { request, writer, channel in
        let incoming = try await incoming(request)
        try await respond(incoming).write(to: writer, of: channel, at: now())
      },
      onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) })
  }

  private func incoming(_ request: Request) async throws -> IncomingRequest {
    let body = try await request.body.collect(upTo: Self.maximumBody)
    return IncomingRequest(
      environment: environment, method: request.method,
      path: request.uri.path,
      query: request.uri.queryParameters.map { (String($0.key), String($0.value)) },
      authorization: request.headers[.authorization], body: Array(body.readableBytesView))
  }
}
