// All series of one metric name, with a limit on the number of label combinations.

/// The kind of a metric.
package enum MetricKind: String, Sendable, Hashable {
  /// A value that only grows.
  case counter
  /// A value that rises and falls.
  case gauge
  /// A distribution over fixed buckets.
  case histogram
}

struct PrometheusFamily {
  let kind: MetricKind
  var series: [[PrometheusLabel]: any PrometheusSeries] = [:]

  init(kind: MetricKind) { self.kind = kind }

  /// Returns the series with these labels, or a new one from `make`.
  ///
  /// Beyond `limit` combinations all new ones share one series whose label values are `other`, so that an attacker who
  /// controls a label value cannot exhaust memory.
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

  /// The samples, ordered by labels. A histogram's buckets stay together, ordered by their bounds.
  var samples: [PrometheusSample] {
    series.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { $0.value.samples($0.key) }
  }
}
