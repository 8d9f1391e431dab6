// Sends finished spans to an OpenTelemetry collector, as OTLP over HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).

internal import AsyncHTTPClient
package import Logging
package import MillraceCore
internal import MillraceTime
internal import NIOCore
internal import NIOHTTP1
internal import ServiceLifecycle
internal import Synchronization
internal import Tracing

/// Collects finished spans and posts them in batches. Handlers never wait for it: if the collector is slow or down,
/// the buffer fills, and further spans are dropped and counted.
package final class SpanExporter: Service {
  /// The most spans that are buffered, about 4 MB.
  static let capacity = 8_192
  /// The most spans of one request.
  static let batch = 512
  /// The time between requests, unless a batch is full.
  static let interval = Duration.seconds(1)
  /// The longest wait after an error that may pass.
  static let longestWait = Duration.seconds(60)
  /// The time limit of a request.
  static let timeout = Duration.seconds(10)

  /// The collector's answer to a request.
  struct Reply: Sendable {
    /// The status.
    var status: Int
    /// `Retry-After` in seconds, if the answer has it in this form.
    var retryAfter: Int?
  }

  private struct State {
    var waiting: [FinishedSpan] = []
    var sent = 0
    var dropped = 0
    var refused = 0
  }

  private let resource: TraceResource
  private let clock: MillraceClock
  private let logger: Logger
  private let post: @Sendable ([UInt8]) async throws -> Reply
  private let state = Mutex(State())

  /// Creates an exporter.
  ///
  /// - Parameters:
  ///   - endpoint: The base URL of the collector. `/v1/traces` is added.
  ///   - service: The name of the ingress or the worker.
  ///   - instance: What distinguishes this process from other replicas.
  package convenience init(endpoint: String, service: String, instance: String, logger: Logger) {
    let url = endpoint + "/v1/traces"
    self.init(TraceResource(service: service, instance: instance), clock: .system, logger: logger) { body in
      var request = HTTPClientRequest(url: url)
      request.method = .POST
      request.headers.add(name: "Content-Type", value: "application/json")
      request.headers.add(name: "User-Agent", value: "millrace/\(MillraceVersion.current)")
      request.body = .bytes(ByteBuffer(bytes: body))
      let response = try await HTTPClient.shared.execute(
        request, timeout: .milliseconds(Self.timeout.wholeMilliseconds))
      // The rest of the answer says nothing that this process could act on.
      _ = try await response.body.collect(upTo: 1 << 20)
      return Reply(
        status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) })
    }
  }

  init(
    _ resource: TraceResource, clock: MillraceClock, logger: Logger,
    post: @escaping @Sendable ([UInt8]) async throws -> Reply
  ) {
    self.resource = resource
    self.clock = clock
    self.logger = logger
    self.post = post
  }

  /// Adds a span, or drops it if the buffer is full.
  func add(_ span: FinishedSpan) {
    state.withLock { state in
      if state.waiting.count < Self.capacity { state.waiting.append(span) } else { state.dropped += 1 }
    }
  }

  /// Sends spans until the process shuts down, and then those that are left.
  package func run() async throws {
    await cancelWhenGracefulShutdown {
      var wait = Self.interval
      while (try? await self.clock.sleep(for: wait)) != nil {
        wait = await self.sendAll() ?? Self.interval
      }
    }
    if await sendAll() != nil {
      let left = state.withLock { state in
        defer { state.waiting = [] }
        state.dropped += state.waiting.count
        return state.waiting.count
      }
      logger.warning("the collector did not take the last spans", metadata: ["spans": "\(left)"])
    }
  }

  /// Sends batches while there are spans.
  /// - Returns: How long to wait before the next attempt, if the collector could not take a batch.
  private func sendAll() async -> Duration? {
    while true {
      let batch = state.withLock { Array($0.waiting.prefix(Self.batch)) }
      guard !batch.isEmpty else { return nil }
      switch await send(batch) {
      case .taken: remove(batch.count) { $0.sent += batch.count }
      case .refused: remove(batch.count) { $0.refused += batch.count }
      case .later(let wait): return wait
      }
    }
  }

  private func remove(_ count: Int, _ tally: (inout State) -> Void) {
    state.withLock { state in
      state.waiting.removeFirst(count)
      tally(&state)
    }
  }

  private enum Outcome {
    case taken
    /// The same request would be refused again.
    case refused
    case later(Duration)
  }

  private func send(_ batch: [FinishedSpan]) async -> Outcome {
    do {
      // Not itself recorded: the HTTP client has spans too, and each request would cause another.
      var context = ServiceContext.topLevel
      SpanPlace.unrecorded.write(to: &context)
      let body = TraceRequest(resource: resource, spans: batch).body
      let reply = try await ServiceContext.withValue(context) { try await post(body) }
      switch reply.status {
      case 200..<300: return .taken
      // The statuses that OTLP declares as retryable.
      case 429, 502, 503, 504:
        logger.info("the collector takes no spans at the moment", metadata: ["status": "\(reply.status)"])
        return .later(min(Self.longestWait, max(Self.interval, .seconds(reply.retryAfter ?? 5))))
      default:
        logger.warning(
          "the collector refused spans: check that tracing.otlp.endpoint is an OTLP/HTTP endpoint",
          metadata: ["status": "\(reply.status)", "spans": "\(batch.count)"])
        return .refused
      }
    } catch {
      if !Task.isCancelled {
        logger.info(
          "the collector did not answer; check tracing.otlp.endpoint if this continues", metadata: ["error": "\(error)"]
        )
      }
      return .later(.seconds(5))
    }
  }
}

extension SpanExporter {
  /// The names and help texts of the metrics.
  package static let helpTexts = [
    ("millrace_spans_total", "Finished spans by outcome: sent, dropped because the buffer was full, or refused."),
    ("millrace_spans_waiting", "Finished spans that wait for the collector."),
  ]

  /// The metrics.
  package var collectors: [MetricCollector] {
    let (total, waiting) = (Self.helpTexts[0], Self.helpTexts[1])
    return [
      MetricCollector(total.0, .counter, help: total.1) { [weak self] in
        guard let self else { return [] }
        return self.state.withLock { state in
          [("sent", state.sent), ("dropped", state.dropped), ("refused", state.refused)].map {
            .init(Double($1), labels: [("outcome", $0)])
          }
        }
      },
      MetricCollector(waiting.0, .gauge, help: waiting.1) { [weak self] in
        guard let self else { return [] }
        return [.init(Double(self.state.withLock { $0.waiting.count }))]
      },
    ]
  }
}
