internal import MillraceRecords
internal import Tracing

/// The place of a span in its trace, which contexts carry.
struct SpanContext: Sendable, Hashable {
  var traceID: [UInt8]
  var spanID: [UInt8]
  /// Whether the span is recorded. Its children follow it.
  var isSampled: Bool

  private enum Key: ServiceContextKey {
    typealias Value = SpanContext
    static let nameOverride: String? = "millrace-span"
  }

  /// Returns the place in a context; `nil` if there is none.
  static func of(_ context: ServiceContext) -> SpanContext? { context[Key.self] }

  /// Writes the place into a context.
  func write(to context: inout ServiceContext) { context[Key.self] = self }
}

extension SpanContext {
  /// The place that a `traceparent` header names.
  init(_ parent: TraceParent) {
    self.init(traceID: parent.traceID, spanID: parent.parentID, isSampled: parent.isSampled)
  }

  /// A new span: in the trace of `parent`, or the first of a new trace, which is recorded.
  init(below parent: SpanContext?, using generator: inout some RandomNumberGenerator) {
    let new = TraceParent(using: &generator)
    self.init(
      traceID: parent?.traceID ?? new.traceID, spanID: new.parentID, isSampled: parent?.isSampled ?? true)
  }

  /// The value of a `traceparent` header (W3C Trace Context, version 00).
  var header: String { "00-\(hex(traceID))-\(hex(spanID))-0\(isSampled ? 1 : 0)" }
}
