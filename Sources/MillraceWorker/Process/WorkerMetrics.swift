// The metrics of a worker. Names and labels are a public interface. A test compares them with `docs/metrics.md`.

internal import CoreMetrics
internal import KafkaClient
internal import Metrics
internal import Synchronization

/// The metrics of one worker. Label values come from closed sets, so outside input adds no series.
struct WorkerMetrics: Sendable {
  /// The result of a record, as a value of the label `outcome`.
  enum Ending: String, Sendable, CaseIterable {
    case done
    case delayed
    case dead
  }

  /// The name and help text of every worker metric.
  static let helpTexts = [
    ("millrace_worker_records_total", "Finished records, by type and outcome."),
    ("millrace_worker_handler_duration_seconds", "Duration of a handler run, in seconds."),
    ("millrace_worker_handlers_stuck", "Handlers that still run after their time limit."),
    ("millrace_worker_retries_total", "Records written to a retry topic, by topic and reason."),
    ("millrace_worker_retry_lateness_seconds", "Time from a retry's due time to its handler's start, in seconds."),
    ("millrace_worker_deadlines_endangered_total", "Records in the last quarter of their time limit, by type."),
    ("millrace_worker_dead_letters_total", "Dead letters written, by reason."),
    ("millrace_worker_timer_failures_total", "Failed runs of timers, by reason."),
    ("millrace_worker_timers_failing", "Timers whose last run failed and that will run again, by lane."),
    ("millrace_worker_events_total", "Events published, by name."),
    ("millrace_worker_records_in_flight", "Records that a lane has read but not finished, by lane."),
    (
      "millrace_worker_lag_records",
      "Consumer lag: high watermark of a topic minus committed offset, by topic and lane."
    ),
    ("millrace_worker_unread_records", "Offsets of a topic that its lane has not read yet, by topic and lane."),
    (
      "millrace_worker_reading_stalled_seconds",
      "Time for which a lane has read nothing from a topic with unread records, in seconds, by topic and lane."
    ),
    ("millrace_worker_lag_seconds", "Age of the oldest record that a lane has read but not finished, in seconds."),
    ("millrace_worker_records_lost_total", "Records deleted before this worker read them (upper bound), by topic."),
    ("millrace_worker_unreadable_records_total", "Unreadable records in shared topics, by topic."),
    ("millrace_worker_ledger_entries", "Notifications in the ledger, by lane."),
    ("millrace_worker_ledger_restore_duration_seconds", "Duration of restoring a lane's ledger, in seconds."),
    ("millrace_worker_commit_duration_seconds", "Duration of a commit, in seconds."),
    ("millrace_worker_commits_total", "Commits, by result."),
    ("millrace_worker_rebalances_total", "Assignments and revocations of lanes, by kind."),
    (
      "millrace_worker_producer_replacements_total",
      "Clients of the transactional producer that a new one replaced without a rejoin, by cause."
    ),
    ("millrace_worker_rejoins_total", "Times that the worker rejoined its group in its process, by reason."),
    ("millrace_worker_lanes", "Lanes that this process owns."),
  ]

  private let factory: any MetricsFactory
  private let worker: (String, String)
  private let lostOffsets = LostOffsets()
  private let commitTime: Metrics.Timer
  private let restoreTime: Metrics.Timer
  private let lateness: Metrics.Timer
  private let lanes: Gauge
  private let stuck: Meter
  // Updated for every record, so each metric is created once for its labels and cached.
  private let records = KeptMetrics<RecordLabels, Counter>()
  private let handlerTimes = KeptMetrics<String, Metrics.Timer>()
  private let inFlight = KeptMetrics<Int32, Gauge>()
  private let ledgers = KeptMetrics<Int32, Gauge>()
  private let failingTimers = KeptMetrics<Int32, Gauge>()

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

  func delayed(topic: String, reason: String, type: String) {
    ended(.delayed, type: type)
    count("millrace_worker_retries_total", [("topic", topic), ("reason", reason)])
  }

  func late(by duration: Duration) { lateness.record(duration: max(.zero, duration)) }

  /// Counts an unfinished record whose deadline is near.
  func endangered(type: String) { count("millrace_worker_deadlines_endangered_total", [("type", type)]) }

  func died(reason: String, type: String) {
    ended(.dead, type: type)
    count("millrace_worker_dead_letters_total", [("reason", reason)])
  }

  func timerFailed(reason: String) { count("millrace_worker_timer_failures_total", [("reason", reason)]) }

  /// Counts the events of an outcome. Their names are types in the worker's code.
  func emitted(_ names: [String]) {
    for name in names { count("millrace_worker_events_total", [("event", name)]) }
  }

  /// Counts offsets as lost, each once: a lane that starts again finds the offsets that a measurement has counted.
  /// - Returns: The number of offsets that were not counted before.
  func lost(_ offsets: Range<Int64>, of source: TopicPartition) -> Int {
    let new = lostOffsets.insert(offsets, of: source)
    Counter(
      label: "millrace_worker_records_lost_total", dimensions: [worker, ("topic", source.topic)], factory: factory
    )
    .increment(by: new)
    return new
  }

  func unreadable(topic: String) { count("millrace_worker_unreadable_records_total", [("topic", topic)]) }

  func restored(in duration: Duration) { restoreTime.record(duration: duration) }

  /// - Parameter withOffsets: False if the group refused the offsets.
  func committed(in duration: Duration, withOffsets: Bool) {
    commitTime.record(duration: duration)
    count("millrace_worker_commits_total", [("result", withOffsets ? "committed" : "written")])
  }

  func commitFailed() { count("millrace_worker_commits_total", [("result", "failed")]) }

  func rebalanced(_ kind: String, lanes count: Int) {
    self.count("millrace_worker_rebalances_total", [("kind", kind)])
    lanes.record(count)
  }

  func replacedClient(_ cause: ReplaceableProducer.Cause) {
    count("millrace_worker_producer_replacements_total", [("cause", cause.rawValue)])
  }

  func rejoined(_ reason: ProducerLoss.Reason) { count("millrace_worker_rejoins_total", [("reason", reason.rawValue)]) }

  func inFlight(_ records: Int, lane: Int32) {
    inFlight.metric(lane) {
      Gauge(label: "millrace_worker_records_in_flight", dimensions: [worker, ("lane", String(lane))], factory: factory)
    }.record(records)
  }

  func ledger(_ entries: Int, failingTimers timers: Int = 0, lane: Int32) {
    ledgers.metric(lane) {
      Gauge(label: "millrace_worker_ledger_entries", dimensions: [worker, ("lane", String(lane))], factory: factory)
    }.record(entries)
    failingTimers.metric(lane) {
      Gauge(label: "millrace_worker_timers_failing", dimensions: [worker, ("lane", String(lane))], factory: factory)
    }.record(timers)
  }

  /// Counts an abandoned handler that still runs.
  func handlerStuck() { stuck.increment() }
  /// Removes an abandoned handler that has returned from the count.
  func handlerFreed() { stuck.decrement() }

  /// Records how far a lane is behind the end of a topic.
  /// - Parameters:
  ///   - committed: The offsets after the committed one.
  ///   - unread: The offsets after the last record that was read.
  func lag(committed: Int64, unread: Int64, topic: String, lane: Int32) {
    for (label, value) in [("millrace_worker_lag_records", committed), ("millrace_worker_unread_records", unread)] {
      Gauge(label: label, dimensions: [worker, ("topic", topic), ("lane", String(lane))], factory: factory)
        .record(value)
    }
  }

  /// Records how long a lane has read nothing from a topic that has unread records.
  func stalled(for duration: Duration, topic: String, lane: Int32) {
    Gauge(
      label: "millrace_worker_reading_stalled_seconds",
      dimensions: [worker, ("topic", topic), ("lane", String(lane))], factory: factory
    ).record(duration / .seconds(1))
  }

  func lag(age: Duration, lane: Int32) {
    Gauge(label: "millrace_worker_lag_seconds", dimensions: [worker, ("lane", String(lane))], factory: factory)
      .record(max(.zero, age) / .seconds(1))
  }

  /// Resets the gauges of a lane that has left, which would otherwise keep their last values.
  func left(lane: Int32, topics: [String]) {
    inFlight(0, lane: lane)
    ledger(0, lane: lane)
    lag(age: .zero, lane: lane)
    for topic in topics {
      lag(committed: 0, unread: 0, topic: topic, lane: lane)
      stalled(for: .zero, topic: topic, lane: lane)
    }
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

/// A cache of metrics by labels.
private final class KeptMetrics<Labels: Hashable & Sendable, Metric: Sendable>: Sendable {
  private struct State {
    var metrics: [Labels: Metric] = [:]
    /// The last metric used. Records of one type often follow each other, and comparing is cheaper than hashing.
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

/// The offsets that were counted as lost.
private final class LostOffsets: Sendable {
  private let counted = Mutex<[TopicPartition: RangeSet<Int64>]>([:])

  /// Adds offsets and returns how many were not there.
  func insert(_ offsets: Range<Int64>, of source: TopicPartition) -> Int {
    counted.withLock { counted in
      var set = counted[source] ?? RangeSet()
      let length = { set.ranges.reduce(0) { $0 + $1.count } }
      let before = length()
      set.insert(contentsOf: offsets)
      counted[source] = set
      return length() - before
    }
  }
}
