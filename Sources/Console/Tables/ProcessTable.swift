// What processes say about themselves and to each other on `millrace.control`. A value: time is a parameter.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker

/// The reports of processes, and the times until which Apple accepts no calls.
struct ProcessTable: Sendable {
  private struct Entry: Sendable {
    var report: ProcessReport
    /// The real time of the report, even if the clock of the process is wrong.
    var writtenAt: Timestamp
    /// How far the clock of the process is ahead; negative if it is behind.
    var clockError = Duration.zero
    /// When a process began while the report of the one before it was still there.
    var restarts: [Timestamp] = []
  }

  /// The largest number of reports to keep. The topic also contains reports of killed processes.
  static let limit = 5_000
  /// The time for which restarts are counted. It is longer than the pauses of a supervisor that restarts a process more and
  /// more rarely.
  static let restartWindow = Duration.seconds(30 * 60)
  /// The most restarts of a process to keep.
  private static let restartLimit = 100
  /// The smallest difference of clocks that counts. Kafka may take a report a minute late.
  private static let clockTolerance = Duration.seconds(300)

  private var entries: [String: Entry] = [:]
  /// The newest time of a report that is not in the future, by topic. Reports of one topic are in the order of real time.
  private var latest: [String: Timestamp] = [:]
  private var pauses: [BudgetKey: Timestamp] = [:]

  /// Applies a record of the topic.
  /// - Parameters:
  ///   - writtenAt: When it was written, by the clock of its writer.
  ///   - now: The real time.
  /// - Throws: An error that says why the record cannot be read. Records of other kinds are passed over.
  mutating func fold(_ record: ConsumerRecord, writtenAt: Timestamp, now: Timestamp) throws {
    guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }) else { return }
    guard let value = record.value else {
      entries[key] = nil
      return
    }
    if let report = ProcessReport(try JSONObject(parsing: value)) {
      keep(report, key, of: record.topic, writtenAt, now)
    } else if let pause = try PauseChannel.pause(from: value) {
      pauses[pause.key] = pause.until
    }
  }

  /// Applies a record of the topic of ingress processes. These may report about themselves only.
  mutating func fold(ingress record: ConsumerRecord, writtenAt: Timestamp, now: Timestamp) throws {
    guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }) else { return }
    guard let value = record.value else {
      if entries[key]?.report.name == ProcessReport.ingress { entries[key] = nil }
      return
    }
    guard let report = ProcessReport(try JSONObject(parsing: value)), report.name == ProcessReport.ingress,
      report.key == key
    else { return }
    keep(report, key, of: record.topic, writtenAt, now)
  }

  private mutating func keep(
    _ report: ProcessReport, _ key: String, of topic: String, _ writtenAt: Timestamp, _ now: Timestamp
  ) {
    let latest = latest[topic]
    let entry = entry(report, after: entries[key], of: latest, writtenAt: writtenAt, now: now)
    if entries.count >= Self.limit { entries = entries.filter { isAlive($0.value, at: entry.writtenAt) } }
    if entries.count < Self.limit || entries[key] != nil { entries[key] = entry }
    self.latest[topic] = max(latest ?? writtenAt, min(writtenAt, now))
  }

  /// Returns the entry of a report. One that is much older than the latest one of its topic has a clock that is behind.
  private func entry(
    _ report: ProcessReport, after previous: Entry?, of latest: Timestamp?, writtenAt: Timestamp, now: Timestamp
  ) -> Entry {
    var entry = Entry(report: report, writtenAt: writtenAt)
    if writtenAt - now > Self.clockTolerance {
      (entry.writtenAt, entry.clockError) = (now, writtenAt - now)
    } else if let latest, latest - writtenAt > Self.clockTolerance {
      (entry.writtenAt, entry.clockError) = (latest, writtenAt - latest)
    }
    guard let previous else { return entry }
    entry.restarts = previous.restarts
    if let began = report.started, let before = previous.report.started, began != before {
      entry.restarts = (entry.restarts + [entry.writtenAt]).suffix(Self.restartLimit)
    }
    return entry
  }

  /// Returns how often each process of each worker began again without an orderly end, within ``restartWindow``.
  func restarts(at now: Timestamp) -> [String: [String: Int]] {
    entries.values.reduce(into: [:]) { counts, entry in
      let recent = entry.restarts.count { now - $0 < Self.restartWindow }
      if recent > 0 { counts[entry.report.name, default: [:]][entry.report.instance] = recent }
    }
  }

  /// Returns how far the clocks of living processes are ahead, or negative behind, by worker and instance. Only wrong ones are
  /// contained.
  func clockErrors(at now: Timestamp) -> [String: Duration] {
    entries.values.reduce(into: [:]) { errors, entry in
      guard entry.clockError != .zero, isAlive(entry, at: now) else { return }
      errors["\(entry.report.name)/\(entry.report.instance)"] = entry.clockError
    }
  }

  /// Returns the newest reports of the processes that live.
  func reports(at now: Timestamp) -> [ProcessReport] {
    entries.values.filter { isAlive($0, at: now) }.map(\.report).sorted {
      ($0.name, $0.instance) < ($1.name, $1.instance)
    }
  }

  /// Returns the pauses that have not ended, in order.
  func pauses(at wallTime: Timestamp) -> [BudgetPause] {
    pauses.filter { $0.value > wallTime }.map { BudgetPause($0.key, until: $0.value) }
      .sorted { ("\($0.key)", $0.until) < ("\($1.key)", $1.until) }
  }

  private func isAlive(_ entry: Entry, at now: Timestamp) -> Bool { now - entry.writtenAt < ProcessReporter.limit }
}
