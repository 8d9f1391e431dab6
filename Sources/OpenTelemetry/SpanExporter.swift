// Sends finished spans to an OpenTelemetry collector, as OTLP over HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).

package import Logging
package import MillraceCore
internal import MillraceTime
internal import ServiceLifecycle
internal import Synchronization

/// Collects finished spans and posts them in batches. Handlers never wait for it: if the collector is slow or down,
/// the buffer fills, and further spans are dropped and counted.
package final class SpanExporter: Service {
  /// The most spans that are buffered, about 4 MB.
  static let capacity = 8_192
  /// The most spans of one request.
  static let batch = 512
  /// The time between requests.
  static let interval = Duration.seconds(1)
  /// The wait after an error that may pass, unless the collector names one.
  static let usualWait = Duration.seconds(5)
  /// The longest wait after an error that may pass.
  static let longestWait = Duration.seconds(60)

  private struct State {
    var waiting: [FinishedSpan] = []
    var sent = 0
    var dropped = 0
    var refused = 0
  }

  private let resource: TraceResource
  private let clock: MillraceClock
  private let logger: Logger
  private let connect: @Sendable () -> any TraceCollector
  private let state = Mutex(State())

  /// Creates an exporter.
  ///
  /// - Parameters:
  ///   - endpoint: The base URL of the collector. `/v1/traces` is added.
  ///   - service: The name of the ingress or the worker.
  ///   - instance: What distinguishes this process from other replicas.
  package convenience init(endpoint: String, service: String, instance: String, logger: Logger) {
    let url = endpoint + "/v1/traces"
    self.init(TraceResource(service: service, instance: instance), clock: .system, logger: logger) {
      HTTPTraceCollector(url: url)
    }
  }

  /// Creates an exporter that connects to a collector when it runs.
  init(
    _ resource: TraceResource, clock: MillraceClock, logger: Logger,
    connect: @escaping @Sendable () -> any TraceCollector
  ) {
    self.resource = resource
    self.clock = clock
    self.logger = logger
    self.connect = connect
  }

  /// Adds a span, or drops it if the buffer is full.
  func add(_ span: FinishedSpan) {
    state.withLock { state in
      if state.waiting.count < Self.capacity { state.waiting.append(span) } else { state.dropped += 1 }
    }
  }

  /// Sends spans until the process shuts down, and then those that are left.
  package func run() async throws {
    let collector = connect()
    var wait = Self.interval
    // A shutdown ends the wait, and not a request that the collector may already have taken.
    while await sleep(wait) { wait = await sendAll(to: collector) ?? Self.interval }
    // The last spans tell why a process failed, so they are sent although this task may be cancelled.
    await Task {
      if await sendAll(to: collector) != nil {
        let left = state.withLock { state in
          defer { state.waiting = [] }
          state.dropped += state.waiting.count
          return state.waiting.count
        }
        logger.warning("the collector did not take the last spans", metadata: ["spans": "\(left)"])
      }
      await collector.close()
    }.value
  }

  /// Returns false if the process shuts down or this task is cancelled.
  private func sleep(_ wait: Duration) async -> Bool {
    await cancelWhenGracefulShutdown {
      do {
        try await self.clock.sleep(for: wait)
        return true
      } catch {
        return false
      }
    }
  }

  /// Sends batches while there are spans.
  /// - Returns: The wait before the next attempt, if the collector could not take a batch.
  private func sendAll(to collector: any TraceCollector) async -> Duration? {
    while true {
      let batch = state.withLock { Array($0.waiting.prefix(Self.batch)) }
      guard !batch.isEmpty else { return nil }
      switch await send(batch, to: collector) {
      case .finished(let refused):
        state.withLock { state in
          state.waiting.removeFirst(batch.count)
          state.sent += batch.count - refused
          state.refused += refused
        }
      case .retry(let wait): return wait
      }
    }
  }

  private enum Outcome {
    /// The collector has the spans, but for those that it refused and would refuse again.
    case finished(refused: Int)
    case retry(after: Duration)
  }

  private func send(_ batch: [FinishedSpan], to collector: any TraceCollector) async -> Outcome {
    do {
      let response = try await collector.post(TraceRequest(resource: resource, spans: batch).body)
      switch response.status {
      case 200..<300:
        let refused = min(batch.count, response.refusedSpans)
        if refused > 0 { logger.warning("the collector refused spans", metadata: ["spans": "\(refused)"]) }
        return .finished(refused: refused)
      // The statuses that OTLP declares as retryable.
      case 429, 502, 503, 504:
        logger.info("the collector takes no spans at the moment", metadata: ["status": "\(response.status)"])
        let wait = response.retryAfter.map { Duration.seconds($0) } ?? Self.usualWait
        return .retry(after: min(Self.longestWait, max(Self.interval, wait)))
      default:
        logger.warning(
          "the collector refused spans: check that tracing.otlp.endpoint is an OTLP/HTTP endpoint",
          metadata: ["status": "\(response.status)", "spans": "\(batch.count)"])
        return .finished(refused: batch.count)
      }
    } catch {
      logger.info(
        "the collector did not answer; check tracing.otlp.endpoint if this continues", metadata: ["error": "\(error)"])
      return .retry(after: Self.usualWait)
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
