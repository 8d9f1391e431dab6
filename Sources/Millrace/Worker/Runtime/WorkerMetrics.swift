// What a worker counts and measures. Names and labels are an interface: `docs/metrics.md` describes them, and a test
// holds the two together.

internal import CoreMetrics
internal import Metrics
internal import Synchronization

/// The metrics of one worker. Labels come from closed sets: nobody outside can make new ones.
struct WorkerMetrics: Sendable {
  /// How a record ended, as the label `outcome` says it.
  enum Ending: String, Sendable, CaseIterable {
    case done
    case parked
    case dead
  }

  /// Name and help text of every metric of a worker.
  static let helpTexts = [
    ("millrace_worker_records_total", "Records that ended, by type and by how."),
    ("millrace_worker_handler_duration_seconds", "Time of one run of a handler, in seconds."),
    ("millrace_worker_handlers_stuck", "Handlers that run on although their time limit is over."),
    ("millrace_worker_retries_total", "Records parked, by tier and reason."),
    ("millrace_worker_retry_lateness_seconds", "From when a parked record was due to when its handler started."),
    ("millrace_worker_deadlines_endangered_total", "Records that entered the last quarter of their time, by type."),
    ("millrace_worker_dead_letters_total", "Dead letters made, by reason."),
    ("millrace_worker_events_total", "Events emitted, by name."),
    ("millrace_worker_records_in_flight", "Records that lanes have taken and not finished, by lane."),
    ("millrace_worker_lag_records", "Offsets of a topic that its lane has not taken yet, by topic and lane."),
    ("millrace_worker_lag_seconds", "Age of the oldest record that a lane has taken and not finished."),
    ("millrace_worker_records_lost_total", "Records deleted before this worker read them, at most, by topic."),
    ("millrace_worker_unreadable_records_total", "Records of shared topics that cannot be read, by topic."),
    ("millrace_worker_ledger_entries", "Notifications the ledger remembers, by lane."),
    ("millrace_worker_ledger_restore_duration_seconds", "Time to restore a lane's ledger, in seconds."),
    ("millrace_worker_commit_duration_seconds", "Time of one commit, in seconds."),
    ("millrace_worker_commits_total", "Commits, by result."),
    ("millrace_worker_rebalances_total", "Times that lanes came or went, by kind."),
    ("millrace_worker_lanes", "Lanes owned."),
  ]

  private let factory: any MetricsFactory
  private let worker: (String, String)
  private let commitTime: Metrics.Timer
  private let restoreTime: Metrics.Timer
  private let lateness: Metrics.Timer
  private let lanes: Gauge
  private let stuck: Meter
  // Of every record: a metric is made once for each of its labels and kept.
  private let records = KeptMetrics<RecordLabels, Counter>()
  private let handlerTimes = KeptMetrics<String, Metrics.Timer>()
  private let inFlight = KeptMetrics<Int32, Gauge>()
  private let ledgers = KeptMetrics<Int32, Gauge>()

  init(worker: String, factory: any MetricsFactory = MetricsSystem.factory) {
    self.factory = factory
    self.worker = ("worker", worker)
    let labels = [self.worker]
    commitTime = Timer(label: "millrace_worker_commit_duration_seconds", dimensions: labels, factory: factory)
    restoreTime = Timer(label: "millrace_worker_ledger_restore_duration_seconds", dimensions: labels, factory: factory)
    lateness = Timer(label: "millrace_worker_retry_lateness_seconds", dimensions: labels, factory: factory)
    lanes = Gauge(label: "millrace_worker_lanes", dimensions: labels, factory: factory)
    stuck = Meter(label: "millrace_worker_handlers_stuck", dimensions: labels, factory: factory)
    stuck.set(0)
  }

  func ended(_ ending: Ending, type: String) {
    recordEnded(type, ending.rawValue)
  }

  func handlerRan(type: String, for duration: Duration) {
    handlerTimes.metric(type) {
      Timer(label: "millrace_worker_handler_duration_seconds", dimensions: [worker, ("type", type)], factory: factory)
    }.record(duration: duration)
  }

  func skipped(_ reason: String, type: String) {
    recordEnded(type, "skipped-\(reason)")
  }

  func parked(tier: String, reason: String, type: String) {
    ended(.parked, type: type)
    count("millrace_worker_retries_total", [("tier", tier), ("reason", reason)])
  }

  func late(by duration: Duration) { lateness.record(duration: max(.zero, duration)) }

  /// A record's deadline is near, and the record is not done.
  func endangered(type: String) { count("millrace_worker_deadlines_endangered_total", [("type", type)]) }

  func died(reason: String, type: String) {
    ended(.dead, type: type)
    count("millrace_worker_dead_letters_total", [("reason", reason)])
  }

  /// Events that go with an outcome; their names are types of the worker's code.
  func emitted(_ names: [String]) {
    for name in names { count("millrace_worker_events_total", [("event", name)]) }
  }

  func lost(_ records: Int, topic: String) {
    Counter(label: "millrace_worker_records_lost_total", dimensions: [worker, ("topic", topic)], factory: factory)
      .increment(by: records)
  }

  func unreadable(topic: String) { count("millrace_worker_unreadable_records_total", [("topic", topic)]) }

  func restored(in duration: Duration) { restoreTime.record(duration: duration) }

  func committed(in duration: Duration) {
    commitTime.record(duration: duration)
    count("millrace_worker_commits_total", [("result", "committed")])
  }

  func commitFailed() { count("millrace_worker_commits_total", [("result", "failed")]) }

  func rebalanced(_ kind: String, lanes count: Int) {
    self.count("millrace_worker_rebalances_total", [("kind", kind)])
    lanes.record(count)
  }

  func inFlight(_ records: Int, lane: Int32) {
    inFlight.metric(lane) {
      Gauge(label: "millrace_worker_records_in_flight", dimensions: [worker, ("lane", String(lane))], factory: factory)
    }.record(records)
  }

  func ledger(_ entries: Int, lane: Int32) {
    ledgers.metric(lane) {
      Gauge(label: "millrace_worker_ledger_entries", dimensions: [worker, ("lane", String(lane))], factory: factory)
    }.record(entries)
  }

  /// A handler's time is over and it runs on.
  func handlerStuck() { stuck.increment() }
  /// A handler whose time was over has ended at last.
  func handlerFreed() { stuck.decrement() }

  func lag(records: Int64, topic: String, lane: Int32) {
    Gauge(
      label: "millrace_worker_lag_records", dimensions: [worker, ("topic", topic), ("lane", String(lane))],
      factory: factory
    ).record(records)
  }

  func lag(age: Duration, lane: Int32) {
    Gauge(label: "millrace_worker_lag_seconds", dimensions: [worker, ("lane", String(lane))], factory: factory)
      .record(max(.zero, age) / .seconds(1))
  }

  /// A lane is another's now: what is not ours to tell must not stay as it was.
  func left(lane: Int32, topics: [String]) {
    inFlight(0, lane: lane)
    ledger(0, lane: lane)
    lag(age: .zero, lane: lane)
    for topic in topics { lag(records: 0, topic: topic, lane: lane) }
  }

  private func recordEnded(_ type: String, _ outcome: String) {
    records.metric(RecordLabels(type: type, outcome: outcome)) {
      Counter(
        label: "millrace_worker_records_total", dimensions: [worker, ("type", type), ("outcome", outcome)],
        factory: factory)
    }.increment()
  }

  private func count(_ label: String, _ dimensions: [(String, String)]) {
    Counter(label: label, dimensions: [worker] + dimensions, factory: factory).increment()
  }
}

private struct RecordLabels: Hashable {
  var type: String
  var outcome: String
}

/// Metrics that were made, by what tells them apart.
private final class KeptMetrics<Labels: Hashable & Sendable, Metric: Sendable>: Sendable {
  private struct State {
    var metrics: [Labels: Metric] = [:]
    /// Records of one type come together, and comparing a label costs less than hashing it.
    var last: (labels: Labels, metric: Metric)?
  }

  private let state = Mutex(State())

  func metric(_ labels: Labels, _ make: () -> Metric) -> Metric {
    state.withLock { state in
      if let last = state.last, last.labels == labels { return last.metric }
      let known = state.metrics[labels]
      let metric = known ?? make()
      if known == nil { state.metrics[labels] = metric }
      state.last = (labels, metric)
      return metric
    }
  }
}
