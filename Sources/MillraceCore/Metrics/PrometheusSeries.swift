// The values behind the handlers of swift-metrics. Counters and gauges are atomics; a histogram takes a lock for a few
// additions.

internal import CoreMetrics
internal import Synchronization

/// One line of output: the suffix of the metric's name, the labels and the value.
struct PrometheusSample: Sendable, Hashable {
  var suffix = ""
  var labels: [PrometheusLabel]
  var value: Double
}

struct PrometheusLabel: Sendable, Hashable, Comparable {
  var name: String
  var value: String

  static func < (left: Self, right: Self) -> Bool { (left.name, left.value) < (right.name, right.value) }
}

/// The state of a metric for one combination of label values.
protocol PrometheusSeries: AnyObject, Sendable {
  func samples(_ labels: [PrometheusLabel]) -> [PrometheusSample]
}

final class PrometheusCounter: PrometheusSeries, CounterHandler {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  func samples(_ labels: [PrometheusLabel]) -> [PrometheusSample] {
    [PrometheusSample(labels: labels, value: Double(value.load(ordering: .relaxed)))]
  }
}

/// A number that can be set or incremented, for gauges and floating-point counters.
final class PrometheusNumber: PrometheusSeries, MeterHandler, RecorderHandler, FloatingPointCounterHandler {
  private let bits = Atomic<UInt64>(0.0.bitPattern)

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
  func decrement(by amount: Double) { increment(by: -amount) }
  func reset() { set(0.0) }

  func increment(by amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  func samples(_ labels: [PrometheusLabel]) -> [PrometheusSample] {
    [PrometheusSample(labels: labels, value: Double(bitPattern: bits.load(ordering: .relaxed)))]
  }
}

final class PrometheusHistogram: PrometheusSeries, TimerHandler, RecorderHandler {
  private struct State {
    /// The number of observations in each bucket, not cumulative. The last bucket is above all bounds.
    var counts: [UInt64]
    var sum = 0.0
  }

  private let bounds: [Double]
  private let state: Mutex<State>

  /// - Parameter bounds: Upper bounds, ascending, without infinity.
  init(bounds: [Double]) {
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  func samples(_ labels: [PrometheusLabel]) -> [PrometheusSample] {
    let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
    var samples: [PrometheusSample] = []
    var cumulative: UInt64 = 0
    for (bound, count) in zip(bounds + [.infinity], counts) {
      cumulative += count
      let bucket = PrometheusLabel(name: "le", value: PrometheusName.number(bound))
      samples.append(PrometheusSample(suffix: "_bucket", labels: labels + [bucket], value: Double(cumulative)))
    }
    samples.append(PrometheusSample(suffix: "_sum", labels: labels, value: sum))
    samples.append(PrometheusSample(suffix: "_count", labels: labels, value: Double(cumulative)))
    return samples
  }
}
