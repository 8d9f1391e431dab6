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
    var writtenAt: Timestamp
  }

  /// The largest number of reports to keep. The topic also contains reports of killed processes.
  static let limit = 5_000

  private var entries: [String: Entry] = [:]
  private var pauses: [BudgetKey: Timestamp] = [:]

  /// Applies a record of the topic.
  /// - Parameter writtenAt: The real time at which it was written.
  /// - Throws: An error that says why the record cannot be read. Records of other kinds are passed over.
  mutating func fold(_ record: ConsumerRecord, writtenAt: Timestamp) throws {
    guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }) else { return }
    guard let value = record.value else {
      entries[key] = nil
      return
    }
    if let report = ProcessReport(try JSONObject(parsing: value)) {
      keep(report, key, writtenAt)
    } else if let pause = try PauseChannel.pause(from: value) {
      pauses[pause.key] = pause.until
    }
  }

  /// Applies a record of the topic of ingress processes. These may report about themselves only.
  mutating func fold(ingress record: ConsumerRecord, writtenAt: Timestamp) throws {
    guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }) else { return }
    guard let value = record.value else {
      if entries[key]?.report.name == ProcessReport.ingress { entries[key] = nil }
      return
    }
    guard let report = ProcessReport(try JSONObject(parsing: value)), report.name == ProcessReport.ingress,
      report.key == key
    else { return }
    keep(report, key, writtenAt)
  }

  private mutating func keep(_ report: ProcessReport, _ key: String, _ writtenAt: Timestamp) {
    if entries.count >= Self.limit { entries = entries.filter { isAlive($0.value, at: writtenAt) } }
    if entries.count < Self.limit || entries[key] != nil {
      entries[key] = Entry(report: report, writtenAt: writtenAt)
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
