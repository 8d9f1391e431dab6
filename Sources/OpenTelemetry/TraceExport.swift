package import Logging
package import MillraceCore
internal import Tracing

/// The export of a process's spans, if its configuration asks for it.
package enum TraceExport {
  /// Installs a tracer for this process. Call it once, before anything looks up the tracer.
  ///
  /// - Parameters:
  ///   - service: The name of the ingress or the worker.
  ///   - instance: What distinguishes this process from other replicas; `nil`: a random name.
  /// - Returns: The exporter to run as the first service, so that it ends last; `nil` if `tracing.otlp.endpoint` is
  ///   not set.
  /// - Throws: ``MillraceError`` if the process has a tracer already.
  package static func start(
    _ settings: TracingSettings, service: String, instance: String?, logger: Logger
  ) throws(MillraceError) -> SpanExporter? {
    guard let endpoint = settings.endpoint else { return nil }
    var generator = SystemRandomNumberGenerator()
    let instance = instance ?? String(generator.next(), radix: 36)
    guard InstrumentationSystem.tracer is NoOpTracer else {
      throw MillraceError(
        .configuration, "the worker's bootstrap() has installed a tracer of its own", at: "tracing.otlp.endpoint",
        remedy: "remove the key, or the tracer")
    }
    let exporter = SpanExporter(endpoint: endpoint, service: service, instance: instance, logger: logger)
    InstrumentationSystem.bootstrap(ExportingTracer(exporter))
    return exporter
  }
}
