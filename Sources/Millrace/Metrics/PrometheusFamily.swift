// All series of one metric name: their kind, their help, and how many label combinations they may have.

/// What a metric is.
public enum MetricKind: String, Sendable, Hashable {
  /// Only grows.
  case counter
  /// Goes up and down.
  case gauge
  /// A distribution over fixed buckets.
  case histogram
}

struct PrometheusFamily {
  let kind: MetricKind
  var series: [[PrometheusLabel]: any PrometheusSeries] = [:]

  init(kind: MetricKind) { self.kind = kind }

  /// The series of these labels, made by `make` when it is new.
  ///
  /// Beyond `limit` combinations all new ones share one series whose label values are `other`: what an attacker can
  /// write into a label must not grow memory.
  mutating func series(
    _ labels: [PrometheusLabel], limit: Int, make: () -> any PrometheusSeries
  ) -> any PrometheusSeries {
    if let known = series[labels] { return known }
    let isFull = series.count >= limit && !labels.isEmpty
    let key = isFull ? labels.map { PrometheusLabel(name: $0.name, value: "other") } : labels
    if let known = series[key] { return known }
    let made = make()
    series[key] = made
    return made
  }

  /// The samples in the order of their labels; a histogram's buckets stay together in the order of their bounds.
  var samples: [PrometheusSample] {
    series.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { $0.value.samples($0.key) }
  }
}
