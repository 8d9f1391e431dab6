// The exchange for production use: async-http-client with its own connection pool.

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Sends requests with async-http-client, over HTTP/2 if the server supports it, and reuses connections.
///
/// One exchange serves all apps and both environments. It does not follow redirects, because a request contains a
/// bearer token. It sends no trace context, so that nothing internal reaches other servers. Call ``shutdown()`` at the
/// end.
public final class AsyncHTTPExchange: HTTPExchange {
  /// The connection settings.
  public struct Configuration: Sendable {
    /// The time limit for establishing a connection, in real time.
    public var connectTimeout: Duration = .seconds(10)
    /// The largest number of connections to one host; HTTP/2 uses one.
    public var connectionsPerHost = 64
    /// The largest accepted body in bytes. A page of twenty notifications has about 0.5 MB.
    public var maxBodyBytes = 8 << 20
    /// Whether the answer to a larger body has its beginning, instead of an error.
    package var cutsOffBodies = false
    /// The certificates of the connections.
    package var tls = TLSFiles()

    /// The defaults: ten seconds, 64 connections, 8 MiB.
    public init() {}
  }

  private let client: HTTPClient
  private let maxBodyBytes: Int
  private let cutsOffBodies: Bool
  /// Only an upper bound. The client enforces the time limit by its own clock.
  private static let patience = TimeAmount.hours(1)

  /// Creates an exchange. It connects on demand.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, client: HTTPClient.Configuration())
  }

  /// Creates an exchange whose connections use certificates from files.
  /// - Throws: ``TransportFailure`` that names the file that could not be used.
  package static func using(files configuration: Configuration) throws(TransportFailure) -> AsyncHTTPExchange {
    var client = HTTPClient.Configuration()
    client.tlsConfiguration = try configuration.tls.configuration()
    return AsyncHTTPExchange(configuration, client: client)
  }

  /// Creates an exchange with other async-http-client settings, such as trusted roots.
  init(_ configuration: Configuration, client: HTTPClient.Configuration) {
    var client = client
    // Apple requires TLS 1.2. The library's default accepts 1.0.
    var tls = client.tlsConfiguration ?? .makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    client.tlsConfiguration = tls
    client.redirectConfiguration = .disallow
    client.timeout.connect = .nanoseconds(configuration.connectTimeout.wholeNanoseconds)
    client.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, configuration.connectionsPerHost)
    // A failed attempt is a result: the caller decides whether and when to retry.
    client.connectionPool.retryConnectionEstablishment = false
    client.tracing.tracer = nil
    self.client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: client)
    self.maxBodyBytes = configuration.maxBodyBytes
    self.cutsOffBodies = configuration.cutsOffBodies
  }

  /// Closes all connections. Calls in progress fail.
  ///
  /// - Throws: ``TransportFailure`` if the exchange was already shut down.
  public func shutdown() async throws(TransportFailure) {
    do {
      try await client.shutdown()
    } catch {
      throw TransportFailure("cannot close the connections: \(error)", .notSent)
    }
  }

  /// Sends a request over a pooled connection.
  public func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = HTTPMethod(request.method)
    for field in request.headers.fields { outgoing.headers.add(name: field.name, value: field.value) }
    if let body = request.body { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
    let response: HTTPClientResponse
    do {
      response = try await client.execute(outgoing, deadline: .now() + Self.patience)
    } catch {
      throw TransportFailure(error)
    }
    return try await read(response)
  }

  private func read(_ response: HTTPClientResponse) async throws(TransportFailure) -> ExchangeAnswer {
    let headers = APIHeaders(response.headers.map { APIHeaders.Field(name: $0.name, value: $0.value) })
    var body: [UInt8] = []
    var isComplete = true
    do {
      for try await part in response.body {
        guard body.count + part.readableBytes <= maxBodyBytes else {
          if cutsOffBodies {
            return ExchangeAnswer(
              status: Int(response.status.code), headers: headers, body: body, isComplete: false, isCutOff: true)
          }
          throw TransportFailure("the response body is larger than \(maxBodyBytes) bytes", .unclear)
        }
        body += part.readableBytesView
      }
    } catch let failure as TransportFailure {
      throw failure
    } catch {
      let failure = TransportFailure(error)
      if failure.isCancellation { throw failure }
      isComplete = false
    }
    return ExchangeAnswer(status: Int(response.status.code), headers: headers, body: body, isComplete: isComplete)
  }
}

extension HTTPMethod {
  fileprivate init(_ method: APIEndpoint.Method) {
    switch method {
    case .get: self = .GET
    case .post: self = .POST
    case .put: self = .PUT
    }
  }
}

extension Duration {
  /// The duration in whole nanoseconds, clamped to 64 bits.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowSum) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflowSum ? (seconds < 0 ? .min : .max) : sum
  }
}

extension TransportFailure {
  /// Converts an error of async-http-client or NIO. Only errors known to occur before the first byte count as not sent.
  fileprivate init(_ error: any Error) {
    let notSent: [HTTPClientError] = [
      .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .invalidURL, .emptyHost, .emptyScheme,
      .alreadyShutdown, .socksHandshakeTimeout, .httpProxyHandshakeTimeout, .proxyAuthenticationRequired,
      .invalidProxyResponse,
    ]
    switch error {
    case is CancellationError:
      self.init("cancelled", .unclear, isCancellation: true)
    case let error as HTTPClientError where error == .cancelled:
      self.init("cancelled", .unclear, isCancellation: true)
    case let error as HTTPClientError:
      let isNotSent = notSent.contains(error) || error.shortDescription == Self.unsupportedScheme
      self.init(error.shortDescription, isNotSent ? .notSent : .unclear)
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      self.init("connection refused", .notSent)
    case let error as NIOConnectionError:
      self.init("no connection to \(error.host):\(error.port): \(Self.causes(of: error))", .notSent)
    default:
      self.init("\(error)", .unclear)
    }
  }

  /// The description of an unsupported scheme. This error includes part of the URL, so it cannot be compared as a
  /// whole.
  private static let unsupportedScheme = HTTPClientError.unsupportedScheme("").shortDescription

  private static func causes(of error: NIOConnectionError) -> String {
    if let fault = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty { return "\(fault)" }
    return error.connectionErrors.map { "\($0.error)" }.joined(separator: ", ")
  }
}
