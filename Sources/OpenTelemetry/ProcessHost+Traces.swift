package import MillraceCore
internal import Tracing

extension ProcessHost {
  /// Installs a tracer for this process if its configuration asks for it. Call it once, before anything looks up the
  /// tracer.
  ///
  /// - Returns: The exporter to run before all other services, so that it ends last; `nil` if `tracing.otlp.endpoint` is
  ///   not set.
  /// - Throws: ``MillraceError`` if the process has a tracer already.
  package func exportTraces() throws(MillraceError) -> SpanExporter? {
    guard let endpoint = configuration.tracing.endpoint else { return nil }
    var generator = SystemRandomNumberGenerator()
    let instance = configuration.kafka.instance ?? String(generator.next(), radix: 36)
    guard InstrumentationSystem.tracer is NoOpTracer else {
      throw MillraceError(
        .configuration, "the worker's bootstrap() has installed a tracer of its own", at: "tracing.otlp.endpoint",
        remedy: "remove the key, or the tracer")
    }
    let exporter = SpanExporter(endpoint: endpoint, service: name, instance: instance, logger: logger)
    InstrumentationSystem.bootstrap(ExportingTracer(exporter))
    for collector in exporter.collectors { registry.add(collector) }
    return exporter
  }
}
