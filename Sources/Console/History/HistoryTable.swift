// The history of the last 24 hours, from the records of the topic. A value: time is a parameter.

internal import AppStore
internal import KafkaClient

/// The samples of a day, at most ``HistorySample/slots``.
struct HistoryTable: Sendable {
  private var samples: [Int64: HistorySample] = [:]

  /// Applies a record. The last record of a part of the day wins.
  /// - Returns: Whether the record belongs to the history.
  /// - Throws: An error that says why the sample cannot be read.
  mutating func fold(_ record: ConsumerRecord, of workers: Set<String>) throws -> Bool {
    guard let slot = HistorySample.slot(ofKey: record.key) else { return false }
    samples[slot] = nil
    if let value = record.value { samples[slot] = try HistorySample(value, of: workers) }
    return true
  }

  /// Whether the interval that contains a time has a sample.
  func isSampled(at time: Timestamp) -> Bool { sample(of: HistorySample.interval(of: time)) != nil }

  private func sample(of interval: Int64) -> HistorySample? {
    // Negative before 1970.
    let slot = (interval % HistorySample.slots + HistorySample.slots) % HistorySample.slots
    // A sample of an earlier day is over, and one of a later day is not of this history.
    return samples[slot].flatMap { HistorySample.interval(of: $0.at) == interval ? $0 : nil }
  }

  /// Returns the figures of each worker over 24 hours. The present interval is left out until it has its sample.
  func rows(of workers: [String], at now: Timestamp) -> [HistoryRow] {
    let present = HistorySample.interval(of: now)
    var day = (present - HistorySample.slots + 1...present).map { sample(of: $0) }
    if !isSampled(at: now) { day.removeLast() }
    return workers.map { worker in
      let figures = day.map { $0?.workers[worker] }
      return HistoryRow(worker: worker, lag: figures.map { $0?.lag }, dead: figures.map { $0?.dead })
    }
  }
}

/// The figures of one worker over 24 hours: one for each interval, the newest last. Nil is a gap.
struct HistoryRow: Sendable, Hashable {
  var worker: String
  var lag: [Int64?]
  var dead: [Int64?]
}

extension HistorySample {
  /// Takes a sample of the present state.
  init(_ status: DeploymentStatus) {
    let figures = status.workers.filter(\.lag.hasTopics).map { worker in
      let name = worker.lag.worker
      // Without a commit the lag is unknown, and so it is if the cluster refuses the group.
      let lag = worker.lag.hasRun && !status.unknown.contains(name) ? worker.lag.records : nil
      return (name, Figures(lag: lag, dead: Int64(worker.open)))
    }
    self.init(at: status.at, workers: Dictionary(figures) { $1 })
  }
}
