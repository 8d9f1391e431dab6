// The swift-metrics backend: stores values and renders them for Prometheus. Create a handler once and keep it: creation
// takes a lock, use does not.

package import CoreMetrics
internal import Synchronization

/// All metrics of a process, rendered for Prometheus (text exposition format 0.0.4).
///
/// Counter names end in `_total` and timer names in `_seconds`; the registry adds a missing suffix. Timers and
/// aggregating recorders are histograms with fixed buckets; other recorders and meters are gauges. A name keeps the
/// kind of its first use. A metric that uses the name with another kind is dropped and counted in
/// `millrace_metrics_conflicts_total`.
package final class PrometheusRegistry: MetricsFactory {
  /// The buckets of durations, in seconds: from half a millisecond to ten seconds.
  static let durationBuckets: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// The media type of ``render()``.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private struct State {
    var families: [String: PrometheusFamily] = [:]
    var help: [String: String] = [:]
    var buckets: [String: [Double]] = [:]
    var collectors: [MetricCollector] = []
    var conflicts: Int64 = 0
  }

  private let state = Mutex(State())
  private let seriesLimit: Int

  /// Creates an empty registry.
  ///
  /// - Parameter seriesLimit: The maximum number of label combinations of a metric. Further ones share one series.
  package init(seriesLimit: Int = 1_000) {
    self.seriesLimit = seriesLimit
    describe("millrace_metrics_conflicts_total", "Metrics dropped because their name is used with another kind.")
  }

  /// Sets a metric's help text and, for histograms, its buckets. Call it before the first use of the metric.
  ///
  /// - Parameters:
  ///   - name: The full name, including its suffix.
  ///   - help: The help text, in one sentence.
  ///   - buckets: Upper bounds in the metric's unit; ``durationBuckets`` by default. They are sorted, and infinity is
  ///     removed.
  package func describe(_ name: String, _ help: String, buckets: [Double]? = nil) {
    state.withLock { state in
      state.help[name] = help
      if let buckets { state.buckets[name] = buckets.filter(\.isFinite).sorted() }
    }
  }

  /// Adds a metric whose values are collected by each ``render()``.
  package func add(_ collector: MetricCollector) {
    state.withLock { $0.collectors.append(collector) }
  }

  /// Returns the current values, ordered by name and labels, so that two results differ only in changed values.
  package func render() -> String {
    let state = state.withLock { $0 }
    var blocks: [String: String] = [:]
    for (name, family) in state.families {
      blocks[name] = Self.block(name, family.kind, state.help[name], family.samples)
    }
    for collector in state.collectors where blocks[collector.name] == nil {
      let samples = collector.collect().map { sample in
        PrometheusSample(labels: Self.labels(sample.labels), value: sample.value)
      }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
      blocks[collector.name] = Self.block(collector.name, collector.kind, collector.help, samples)
    }
    let conflicts = "millrace_metrics_conflicts_total"
    blocks[conflicts] = Self.block(
      conflicts, .counter, state.help[conflicts], [PrometheusSample(labels: [], value: Double(state.conflicts))])
    return blocks.sorted { $0.key < $1.key }.map(\.value).joined()
  }

  private static func block(
    _ name: String, _ kind: MetricKind, _ help: String?, _ samples: [PrometheusSample]
  ) -> String {
    var text = ""
    if let help { text += "# HELP \(name) \(PrometheusName.escapedHelp(help))\n" }
    text += "# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      let labels = sample.labels.map { "\($0.name)=\"\(PrometheusName.escapedValue($0.value))\"" }
      let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
      text += "\(name)\(sample.suffix)\(list) \(PrometheusName.number(sample.value))\n"
    }
    return text
  }

  private static func labels(_ dimensions: [(String, String)]) -> [PrometheusLabel] {
    var labels: [PrometheusLabel] = []
    for (name, value) in dimensions {
      let name = PrometheusName.label(name)
      // Prometheus would reject the whole response because of a repeated name.
      if !labels.contains(where: { $0.name == name }) { labels.append(PrometheusLabel(name: name, value: value)) }
    }
    return labels.sorted()
  }

  private func series<Series: PrometheusSeries>(
    _ name: String, _ kind: MetricKind, _ dimensions: [(String, String)], make: ([Double]) -> Series
  ) -> Series {
    let labels = Self.labels(dimensions)
    return state.withLock { state in
      let buckets = state.buckets[name] ?? Self.durationBuckets
      var family = state.families[name] ?? PrometheusFamily(kind: kind)
      guard family.kind == kind,
        let series = family.series(labels, limit: seriesLimit, make: { make(buckets) }) as? Series
      else {
        state.conflicts += 1
        return make(buckets)
      }
      state.families[name] = family
      return series
    }
  }
}

// MARK: - MetricsFactory

extension PrometheusRegistry {
  /// Returns a counter; its name ends in `_total`.
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let name = PrometheusName.suffixed(PrometheusName.metric(label), "_total")
    return series(name, .counter, dimensions) { _ in PrometheusCounter() }
  }

  /// Returns a floating-point counter; its name ends in `_total`.
  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    let name = PrometheusName.suffixed(PrometheusName.metric(label), "_total")
    return series(name, .counter, dimensions) { _ in PrometheusNumber() }
  }

  /// Returns a gauge.
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(PrometheusName.metric(label), .gauge, dimensions) { _ in PrometheusNumber() }
  }

  /// Returns a histogram if `aggregate` is true, otherwise a gauge.
  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    let name = PrometheusName.metric(label)
    return aggregate
      ? series(name, .histogram, dimensions) { PrometheusHistogram(bounds: $0) }
      : series(name, .gauge, dimensions) { _ in PrometheusNumber() }
  }

  /// Returns a histogram of seconds; its name ends in `_seconds`.
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let name = PrometheusName.suffixed(PrometheusName.metric(label), "_seconds")
    return series(name, .histogram, dimensions) { PrometheusHistogram(bounds: $0) }
  }

  // A series outlives its handlers: a counter that disappeared and came back would look like a restart.

  /// Keeps the series.
  package func destroyCounter(_ handler: any CounterHandler) {}
  /// Keeps the series.
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  /// Keeps the series.
  package func destroyMeter(_ handler: any MeterHandler) {}
  /// Keeps the series.
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  /// Keeps the series.
  package func destroyTimer(_ handler: any TimerHandler) {}
}
