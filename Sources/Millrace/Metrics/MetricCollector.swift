// Values that are known elsewhere and asked for when somebody reads the metrics.

/// A metric whose values are asked for at each reading.
public struct MetricCollector: Sendable {
  /// One value and its labels.
  public struct Sample: Sendable {
    /// Names and values.
    public var labels: [(String, String)]
    /// The value.
    public var value: Double

    /// A value with labels.
    public init(_ value: Double, labels: [(String, String)] = []) {
      self.value = value
      self.labels = labels
    }
  }

  /// The full name.
  public var name: String
  /// Counter or gauge.
  public var kind: MetricKind
  /// One sentence.
  public var help: String
  /// Must not block: it runs while the metrics are rendered.
  public var collect: @Sendable () -> [Sample]

  /// A metric that asks `collect`.
  public init(
    _ name: String, _ kind: MetricKind, help: String, collect: @escaping @Sendable () -> [Sample]
  ) {
    self.name = PrometheusName.metric(name)
    self.kind = kind
    self.help = help
    self.collect = collect
  }
}
