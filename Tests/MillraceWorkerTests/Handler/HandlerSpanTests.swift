import AppStore
import InMemoryTracing
import KafkaClient
import Testing
import Tracing

@testable import MillraceWorker

/// An in-memory tracer that reads W3C trace contexts.
private struct W3CTracer: Tracer {
  let inner = InMemoryTracer()

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> InMemorySpan {
    inner.startSpan(
      operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line)
  }

  func forceFlush() {}

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-").map(String.init) ?? []
    guard parts.count == 4 else { return }
    inner.extract(
      [InMemoryTracer.traceIDKey: parts[1], InMemoryTracer.spanIDKey: parts[2]], into: &context, using: Keys())
  }

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}

  private struct Keys: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  }
}

@Suite struct HandlerSpanTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let parent = "00f067aa0ba902b7"

  private func item(traceParent: String?) -> LaneItem {
    var headers = [RecordHeader("ce_id", "n-1"), RecordHeader("ce_specversion", "1.0")]
    if let traceParent { headers.append(RecordHeader("traceparent", traceParent)) }
    return LaneItem(
      ConsumerRecord(
        topic: "in", partition: 2, offset: 40, timestamp: 0, key: [1], value: [1], headers: headers), source: .live)
  }

  @Test func `a handler's span is a child of the record's span and the parent of its calls`() async throws {
    let tracer = W3CTracer()
    let item = item(traceParent: "00-\(Self.trace)-\(Self.parent)-01")
    _ = await HandlerSpan.run("winback handle", item, by: tracer) {
      tracer.withAnySpan("inner", ofKind: .client) { _ in .decided(.ignore) }
    }
    let spans = tracer.inner.finishedSpans
    let handler = try #require(spans.first { $0.operationName == "winback handle" })
    #expect(handler.traceID == Self.trace && handler.parentSpanID == Self.parent && handler.kind == .consumer)
    #expect(handler.status == nil && spans.count == 2)
    #expect(handler.attributes["messaging.destination.name"]?.toSpanAttribute() == .string("in"))
    #expect(handler.attributes["messaging.kafka.offset"]?.toSpanAttribute() == .int64(40))
    #expect(handler.attributes["millrace.notification"]?.toSpanAttribute() == .string("n-1"))
    let inner = try #require(spans.first { $0.operationName == "inner" })
    #expect(inner.traceID == Self.trace && inner.parentSpanID == handler.spanID)
  }

  @Test func `a record without a trace starts one`() async throws {
    let tracer = W3CTracer()
    _ = await HandlerSpan.run("winback handle", item(traceParent: nil), by: tracer) { .decided(.ignore) }
    let span = try #require(tracer.inner.finishedSpans.first)
    #expect(span.parentSpanID == nil && span.traceID != Self.trace)
  }

  @Test func `a failure is an error with its reason code, and waiting for Apple is not an error`() async throws {
    let tracer = W3CTracer()
    let results: [HandlerResult] = [
      .failed(.retryBySchedule, reason: "handler-error", detail: "broken"),
      .undecodable(UndecodableRecord(reason: .tombstone, description: "no value")),
      .failed(.wait(until: Timestamp(millisecondsSince1970: 0)), reason: "waits-for-apple", detail: "budget"),
    ]
    for result in results { _ = await HandlerSpan.run("h", item(traceParent: nil), by: tracer) { result } }
    let spans = tracer.inner.finishedSpans
    #expect(spans.map { $0.status?.code } == [.error, .error, nil])
    #expect(
      spans.map { $0.attributes["error.type"]?.toSpanAttribute() }
        == [.string("handler-error"), .string("tombstone"), nil])
    #expect(spans.map { $0.events.map(\.name) } == [[], [], ["waits-for-apple"]])
  }
}
