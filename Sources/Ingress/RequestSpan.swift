// The span of a request, with OpenTelemetry's conventions for HTTP servers.

internal import HTTPTypes
internal import MillraceRecords
internal import Tracing

/// The span of a request whose head was accepted. The record carries it, so the workers' spans are its children.
struct RequestSpan {
  /// The `traceparent` of the record.
  let traceParent: TraceParent
  private let span: any Span

  /// The context of the spans below this one.
  var context: ServiceContext { span.context }

  /// Begins a span.
  ///
  /// - Parameter header: The request's `traceparent`, if it has one.
  /// - Returns: `nil` if the tracer does not pass on traces as W3C Trace Context.
  init?(_ header: String?, path: String, by tracer: any Tracer) {
    var context = ServiceContext.topLevel
    if let header { tracer.extract(["traceparent": header], into: &context, using: Headers()) }
    span = tracer.startSpan("POST \(path)", context: context, ofKind: .server)
    var headers: [String: String] = [:]
    tracer.inject(span.context, into: &headers, using: Headers())
    guard let parent = headers["traceparent"].flatMap({ TraceParent($0) }) else { return nil }
    traceParent = parent
    span.attributes["http.request.method"] = "POST"
    span.attributes["url.path"] = path
  }

  /// Ends the span.
  ///
  /// - Parameter refused: Why the request was not answered 200.
  func end(_ refused: RefusedRequest? = nil) {
    span.attributes["http.response.status_code"] = refused.map { Int64($0.problem.status.code) } ?? 200
    if let refused {
      span.attributes["error.type"] = refused.label
      // As in OpenTelemetry's conventions, only the server's own errors set the status.
      if refused.problem.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
    }
    span.end()
  }
}

private struct Headers: Extractor, Injector {
  func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}
