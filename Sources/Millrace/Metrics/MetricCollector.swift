/// A metric whose values are collected each time the metrics are read.
public struct MetricCollector: Sendable {
  /// One value and its labels.
  public struct Sample: Sendable {
    /// The labels, as names and values.
    public var labels: [(String, String)]
    /// The value.
    public var value: Double

    /// Creates a value with labels.
    public init(_ value: Double, labels: [(String, String)] = []) {
      self.value = value
      self.labels = labels
    }
  }

  /// The full metric name.
  public var name: String
  /// The kind: counter or gauge.
  public var kind: MetricKind
  /// The help text, in one sentence.
  public var help: String
  /// Returns the current values. It must not block, because it runs while the metrics are rendered.
  public var collect: @Sendable () -> [Sample]

  /// Creates a metric with the values that `collect` returns.
  public init(
    _ name: String, _ kind: MetricKind, help: String, collect: @escaping @Sendable () -> [Sample]
  ) {
    self.name = PrometheusName.metric(name)
    self.kind = kind
    self.help = help
    self.collect = collect
  }
}
