import MillraceRecords
import Synchronization
import Testing
import Tracing

@testable import Ingress
@testable import OpenTelemetry

@Suite struct RequestSpanTests {
  private final class Spans: Sendable {
    private let state = Mutex<[FinishedSpan]>([])
    var all: [FinishedSpan] { state.withLock { $0 } }
    var tracer: ExportingTracer { ExportingTracer { span in self.state.withLock { $0.append(span) } } }
  }

  private let spans = Spans()

  @Test func `The record is below the span of the request, in the trace of its header`() throws {
    let given = try #require(TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    let span = try #require(RequestSpan(given.description, path: "/v2", by: spans.tracer))
    #expect(span.traceParent.traceID == given.traceID && span.traceParent.parentID != given.parentID)
    #expect(span.traceParent.isSampled)
    span.end()
    let finished = try #require(spans.all.first)
    #expect(finished.name == "POST /v2" && finished.kind == .server && finished.parentID == given.parentID)
    #expect(finished.place.spanID == span.traceParent.parentID)
    #expect(finished.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(200))
  }

  @Test func `A refusal is in the attributes, and only the server's errors are an error`() throws {
    for (refused, status, isError) in [
      (RefusedRequest.kafkaUnavailable, Int64(503), true), (.noSharedSecret, 401, false),
    ] {
      try #require(RequestSpan(nil, path: "/v1", by: spans.tracer)).end(refused)
      let finished = try #require(spans.all.last)
      #expect(finished.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(status))
      #expect(finished.attributes["error.type"]?.toSpanAttribute() == .string(refused.label))
      #expect((finished.status?.code == .error) == isError)
    }
  }

  @Test func `Without a tracer that passes on traces, the record has the trace of the header`() {
    let span = RequestSpan(nil, path: "/v2", by: NoOpTracer())
    #expect(span == nil)
  }
}
