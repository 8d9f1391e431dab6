/// A metric whose values are collected each time the metrics are read.
package struct MetricCollector: Sendable {
  /// One value and its labels.
  package struct Sample: Sendable {
    /// The labels, as names and values.
    package var labels: [(String, String)]
    /// The value.
    package var value: Double

    /// Creates a value with labels.
    package init(_ value: Double, labels: [(String, String)] = []) {
      self.value = value
      self.labels = labels
    }
  }

  /// The full metric name.
  package var name: String
  /// The kind: counter or gauge.
  package var kind: MetricKind
  /// The help text, in one sentence.
  package var help: String
  /// Returns the current values. It must not block, because it runs while the metrics are rendered.
  package var collect: @Sendable () -> [Sample]

  /// Creates a metric with the values that `collect` returns.
  package init(
    _ name: String, _ kind: MetricKind, help: String, collect: @escaping @Sendable () -> [Sample]
  ) {
    self.name = PrometheusName.metric(name)
    self.kind = kind
    self.help = help
    self.collect = collect
  }
}
