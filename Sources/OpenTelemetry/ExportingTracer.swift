internal import MillraceRecords
package import Tracing

/// A tracer whose spans go to a ``SpanExporter``. Traces pass between processes as W3C Trace Context.
///
/// A span follows the decision of its parent, also of one in another process: the children of a trace that the caller
/// does not record are not recorded.
package struct ExportingTracer: Tracer {
  private let finished: @Sendable (FinishedSpan) -> Void

  /// Creates a tracer for an exporter.
  package init(_ exporter: SpanExporter) {
    self.init { exporter.add($0) }
  }

  init(_ finished: @escaping @Sendable (FinishedSpan) -> Void) {
    self.finished = finished
  }

  /// Begins a span.
  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    var generator = SystemRandomNumberGenerator()
    let context = context()
    let parent = SpanContext.of(context)
    return RecordedSpan(
      operationName, SpanContext(below: parent, using: &generator), below: parent?.spanID, in: context, kind: kind,
      start: instant().nanosecondsSinceEpoch, finished: finished)
  }

  /// Does nothing: ``SpanExporter`` sends all spans when it shuts down.
  package func forceFlush() {}

  /// Reads `traceparent`.
  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap({ TraceParent($0) }) else { return }
    SpanContext(parent).write(to: &context)
  }

  /// Writes `traceparent`.
  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let place = SpanContext.of(context) else { return }
    injector.inject(place.header, forKey: "traceparent", into: &carrier)
  }
}
