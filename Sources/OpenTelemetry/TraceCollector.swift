internal import AppStore
internal import AsyncHTTPClient
internal import MillraceCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// A collector that takes requests to `/v1/traces`.
protocol TraceCollector: Sendable {
  /// Posts a request.
  func post(_ body: [UInt8]) async throws -> TraceResponse
  /// Closes the connections. Call it once, at the end.
  func close() async
}

/// The answer to a request.
struct TraceResponse: Sendable, Hashable {
  /// The HTTP status.
  var status: Int
  /// `Retry-After` in seconds, if the answer has it in this form.
  var retryAfter: Int?
  /// The number of spans that the collector refused of a request that it accepted (`partialSuccess.rejectedSpans`).
  var refusedSpans = 0
}

extension TraceResponse {
  /// Reads the number of refused spans from the body of an answer. A number is text in OTLP's JSON; a body that is no
  /// JSON refuses nothing.
  static func refusedSpans(in body: [UInt8]) -> Int {
    guard case .object(let partial)? = (try? JSONObject(parsing: body))?["partialSuccess"] else { return 0 }
    switch partial["rejectedSpans"] {
    case .integer(let count)?: return max(0, Int(clamping: count))
    case .string(let text)?: return max(0, Int(text) ?? 0)
    default: return 0
    }
  }
}

/// A collector at a URL.
struct HTTPTraceCollector: TraceCollector {
  /// The time limit of a request.
  static let timeout = Duration.seconds(10)
  /// The largest answer that is read, in bytes.
  static let maxResponseBytes = 1 << 20

  private let url: String
  private let client: HTTPClient

  init(url: String) {
    self.url = url
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    // A redirected POST would become a GET, and its answer would not mean that the spans arrived.
    configuration.redirectConfiguration = .disallow
    // Otherwise the span of each request would cause another request.
    configuration.tracing.tracer = nil
    client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
  }

  func post(_ body: [UInt8]) async throws -> TraceResponse {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    request.headers.add(name: "User-Agent", value: "millrace/\(MillraceVersion.current)")
    request.body = .bytes(ByteBuffer(bytes: body))
    let response = try await client.execute(request, timeout: .milliseconds(Self.timeout.wholeMilliseconds))
    let answer = try await response.body.collect(upTo: Self.maxResponseBytes)
    return TraceResponse(
      status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) },
      refusedSpans: TraceResponse.refusedSpans(in: Array(answer.readableBytesView)))
  }

  func close() async {
    // The process ends, and connections with it.
    try? await client.shutdown()
  }
}
