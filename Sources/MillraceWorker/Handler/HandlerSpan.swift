// The trace span of a handler run: a child of the span that the record's `traceparent` names, with any tracer that the
// process installs. Calls to Apple become its children automatically, because the context is task-local.

internal import AppStore
internal import KafkaClient
internal import Tracing
internal import MillraceRecords

/// Spans that follow OpenTelemetry's conventions for messaging.
enum HandlerSpan {
  /// Runs `body` inside a span for a record.
  static func run(
    _ name: String, _ item: LaneItem, by tracer: any Tracer, _ body: () async -> HandlerResult
  ) async -> HandlerResult {
    let context = context(of: item.envelope.traceParent, for: tracer)
    return await tracer.withAnySpan(name, context: context, ofKind: .consumer) { span in
      span.attributes["messaging.system"] = "kafka"
      span.attributes["messaging.operation.type"] = "process"
      span.attributes["messaging.destination.name"] = item.record.topic
      span.attributes["messaging.destination.partition.id"] = String(item.record.partition)
      span.attributes["messaging.kafka.offset"] = item.record.offset
      span.attributes["appstore.notification.type"] = item.typeLabel
      span.attributes["millrace.notification"] = item.id
      span.attributes["millrace.attempt"] = item.attempt
      return await finish(span, body)
    }
  }

  /// Runs `body` inside a span for a timer, which starts a new trace.
  static func run(
    _ name: String, _ timer: FiredTimer, by tracer: any Tracer, _ body: () async -> HandlerResult
  ) async -> HandlerResult {
    await tracer.withAnySpan(name, context: .topLevel, ofKind: .internal) { span in
      span.attributes["millrace.timer"] = timer.name
      return await finish(span, body)
    }
  }

  private static func finish(_ span: any Span, _ body: () async -> HandlerResult) async -> HandlerResult {
    let result = await body()
    switch result {
    case .decided: break
    case .undecodable(let problem): fail(span, problem.reason.rawValue, problem.description)
    case .failed(let disposition, let reason, let detail, _):
      if case .wait = disposition { span.addEvent(SpanEvent(name: reason)) } else { fail(span, reason, detail) }
    }
    return result
  }

  private static func fail(_ span: any Span, _ reason: String, _ detail: String) {
    span.attributes["error.type"] = reason
    span.setStatus(SpanStatus(code: .error, message: detail))
  }

  private static func context(of parent: TraceParent?, for tracer: any Tracer) -> ServiceContext {
    var context = ServiceContext.topLevel
    guard let parent else { return context }
    tracer.extract(["traceparent": parent.description], into: &context, using: HeaderExtractor())
    return context
  }
}

private struct HeaderExtractor: Extractor {
  func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
