import Synchronization
import Testing
import Tracing

@testable import OpenTelemetry
import MillraceRecords

/// Collects finished spans.
final class FinishedSpans: Sendable {
  private let spans = Mutex<[FinishedSpan]>([])
  var all: [FinishedSpan] { spans.withLock { $0 } }
  var tracer: ExportingTracer { ExportingTracer { span in self.spans.withLock { $0.append(span) } } }
}

private struct Headers: Extractor, Injector {
  func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

@Suite struct ExportingTracerTests {
  private let spans = FinishedSpans()

  private func context(_ header: String) -> ServiceContext {
    var context = ServiceContext.topLevel
    spans.tracer.extract(["traceparent": header], into: &context, using: Headers())
    return context
  }

  @Test func `A span is in the trace of its parent, and its end is exported once`() throws {
    let parent = spans.tracer.startSpan("parent", context: .topLevel, ofKind: .server)
    let child = spans.tracer.startSpan("child", context: parent.context, ofKind: .client)
    child.attributes["n"] = 1
    child.end()
    child.attributes["n"] = 2
    child.end()
    parent.end()
    #expect(spans.all.map(\.name) == ["child", "parent"])
    let (first, last) = (try #require(spans.all.first), try #require(spans.all.last))
    #expect(first.place.traceID == last.place.traceID && first.parentID == last.place.spanID)
    #expect(last.parentID == nil && first.place.spanID != last.place.spanID)
    #expect(first.attributes["n"]?.toSpanAttribute() == .int64(1), "what is set after the end is ignored")
    #expect(first.start <= first.end && last.start <= first.start)
    #expect(!child.isRecording)
  }

  @Test func `A span continues the trace of a header, and passes itself on`() throws {
    let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let span = spans.tracer.startSpan("s", context: context(header))
    var carrier: [String: String] = [:]
    spans.tracer.inject(span.context, into: &carrier, using: Headers())
    let passed = try #require(carrier["traceparent"].flatMap { TraceParent($0) })
    let given = try #require(TraceParent(header))
    #expect(passed.traceID == given.traceID && passed.parentID == span.place.spanID && passed.isSampled)
    span.end()
    #expect(spans.all.first?.parentID == given.parentID)
  }

  @Test func `The spans of a trace that the caller does not record are not exported`() {
    let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    let span = spans.tracer.startSpan("s", context: context(header))
    let child = spans.tracer.startSpan("child", context: span.context)
    var carrier: [String: String] = [:]
    spans.tracer.inject(child.context, into: &carrier, using: Headers())
    child.end()
    span.end()
    #expect(spans.all.isEmpty && !span.isRecording)
    #expect(carrier["traceparent"].flatMap { TraceParent($0) }?.isSampled == false)
  }

  @Test(arguments: ["", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"])
  func `An invalid header begins a new trace`(header: String) {
    let span = spans.tracer.startSpan("s", context: context(header))
    span.end()
    #expect(spans.all.count == 1 && spans.all.first?.parentID == nil)
  }
}
