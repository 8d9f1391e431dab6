// What became of the records of a run, for people and scripts.

package import AppStore
package import MillraceCore
package import MillraceRecords
internal import MillraceWorker

/// A run, and what became of its records.
package struct RunStatus: Sendable, Hashable {
  /// The counts of one worker.
  package struct Counts: Sendable, Hashable {
    /// The worker; nil for the worker that the run is for.
    package var worker: String?
    /// The counts of `RunOutcome` or `RunSurvey`.
    package var json: JSONObject

    /// The counts with their names for people, in order.
    package var facts: [(label: String, count: Int64)] { FactSheet.facts(of: json) }

    /// The counts in one line.
    package var sentence: String {
      let parts = facts.filter { $0.count > 0 }.map { "\($0.count) \($0.label)" }
      return (worker.map { "\($0): " } ?? "") + (parts.isEmpty ? "no records" : parts.joined(separator: ", "))
    }
  }

  /// The run, as `millrace replay list` or `millrace audit` prints it.
  package var run: JSONObject
  /// The number of records that the run has sent, and what became of them, for each worker; empty if no worker has them.
  package var counts: [Counts] = []

  /// The counts of the worker that the run is for; nil if it is for no particular one.
  package var outcome: JSONObject? { counts.first { $0.worker == nil }?.json }

  /// The names of the counts that some worker has, in order.
  package static func labels(of all: [Counts]) -> [String] {
    FactSheet.labels.filter { label in all.contains { $0.facts.contains { $0.label == label } } }
  }

  /// The status as one line of JSON.
  package var jsonLine: String {
    var json = run
    json["outcome"] = outcome.map { .object($0) }
    let others = counts.compactMap { counts in
      counts.worker.map { JSONObject.Member(key: $0, value: .object(counts.json)) }
    }
    if !others.isEmpty { json["outcomes"] = .object(JSONObject(others)) }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// The status for a terminal.
  package func lines(usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    for member in run.members {
      guard member.value != .object([:]) else { continue }
      let text = String(decoding: member.value.serialized(), as: UTF8.self)
      if case .string(let value) = member.value { sheet.add(member.key, value) } else { sheet.add(member.key, text) }
    }
    for counts in counts {
      sheet.beginGroup()
      sheet.add("worker", counts.worker, .cyan)
      sheet.add(outcome: counts.json)
    }
    return sheet.lines(usesColor: usesColor)
  }
}

/// The workers that may read what a run writes, and the topics of notifications.
package struct RunReaders: Sendable, Hashable {
  package var workers: [String]
  /// The names in Kafka.
  package var notificationTopics: [String]

  package init(workers: [String], notificationTopics: [String]) {
    (self.workers, self.notificationTopics) = (workers, notificationTopics)
  }

  /// The readers of a deployment. Webhooks read events only.
  package init(_ configuration: MillraceConfiguration, _ catalog: TopicCatalog) {
    workers = configuration.workerNames.filter { !$0.hasPrefix(WorkerEntry.webhookPrefix) }
    notificationTopics = catalog.notificationTopics.map(\.topic)
  }
}

extension FactSheet {
  private static let outcomeLabels = [
    ("records", "records"), ("skipped", "skipped"), ("unchanged", "unchanged"), ("superseded", "superseded"),
    ("supersededByNothing", "superseded by nothing"), ("new", "new"), ("deadLetters", "dead letters"),
    ("wouldCall", "would call"), ("waiting", "waiting"),
    ("unknown", "without an outcome"), ("events", "events"), ("timersThatWouldCall", "timers that would call"),
  ]

  static var labels: [String] { outcomeLabels.map(\.1) }

  /// The counts of `RunOutcome`, `RunSurvey` or `DryRunReport` that `outcome` has, with their names for people.
  static func facts(of outcome: JSONObject) -> [(label: String, count: Int64)] {
    outcomeLabels.compactMap { name, label in
      if case .integer(let count)? = outcome[name] { (label, count) } else { nil }
    }
  }

  /// Adds the counts of a run.
  package mutating func add(outcome: JSONObject) {
    for (label, count) in Self.facts(of: outcome) { add(label, "\(count)") }
  }
}

/// The report of a dry run, as the worker's program prints it.
package struct DryRunText: Sendable, Hashable {
  private let report: JSONObject

  /// - Throws: An error if the text is no JSON object.
  package init(_ text: [UInt8]) throws {
    guard case .object(let report) = try JSON(parsing: text) else {
      throw OperationError(
        .failed, "the worker's program printed no report", at: "--dry-run", remedy: "read what it printed")
    }
    self.report = report
  }

  /// One line of JSON.
  package var jsonLine: String {
    var json: JSONObject = ["dryRun": true]
    json.members += report.members
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Text for a terminal: the counts, then the differences.
  package func lines(usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    sheet.add(outcome: report)
    var lines = sheet.lines(usesColor: usesColor)
    guard case .array(let differences)? = report["differences"] else { return lines }
    for case .object(let difference) in differences {
      let words = ["ending", "notification", "position"].compactMap { name -> String? in
        if case .string(let word)? = difference[name] { word } else { nil }
      }
      lines += ["", TextStyle.cyan.applied(to: TerminalText.safe(words.joined(separator: " ")), usesColor: usesColor)]
      guard case .array(let diff)? = difference["diff"] else { continue }
      for case .string(let line) in diff {
        let style: TextStyle = line.hasPrefix("+") ? .green : .red
        lines.append(style.applied(to: TerminalText.safe(line), usesColor: usesColor))
      }
      let withdraws = !diff.contains { if case .string(let line) = $0 { line.hasPrefix("+") } else { false } }
      if withdraws {
        let note = "  a run publishes nothing instead: what the first run published stays"
        lines.append(TextStyle.dim.applied(to: note, usesColor: usesColor))
      }
    }
    return lines
  }
}

extension AuditRecord.Action {
  /// Whether a run of this kind writes records that workers handle.
  package var hasOutcomes: Bool {
    [.replay, .reapply, .requeue, .backfill, .importRequest, .refundCheck].contains(self)
  }
}

extension ReplayOperation {
  /// Returns a run and what became of its records so far. A run that is not a replay comes from the audit trail.
  /// - Throws: ``OperationError`` if no run or more than one run matches; `KafkaError`.
  package func status(of name: String, among readers: RunReaders) async throws -> RunStatus {
    let book = try await book()
    let entries = try await AuditLog(on: log, prefix: prefix).trail().entries.filter {
      !name.isEmpty && !$0.action.isControl && $0.run.hasPrefix(name) && book[$0.run] == nil
    }
    guard let entry = entries.first, entries.count == 1 else { return try await status(of: book.run(named: name)) }
    return try await status(of: entry, among: readers) ?? RunStatus(run: entry.json)
  }

  /// Returns what became of the records of a replay so far.
  package func status(of run: ReplayRun) async throws -> RunStatus {
    guard case .worker(let worker) = run.target else { return RunStatus(run: run.json) }
    return RunStatus(run: run.json, counts: [try await counts(of: run.id, worker, sent: run.sent)])
  }

  /// Returns what became of the records of another run so far.
  /// - Parameter limit: The largest number of records to keep in memory; nil for no limit.
  /// - Returns: Nil if the run has more records than the limit.
  package func status(
    of entry: AuditEntry, among readers: RunReaders, limit: Int? = nil
  ) async throws -> RunStatus? {
    if entry.action == .requeue, let worker = entry.target {
      let sent = entry.counts.first { $0.name == "requeued" }?.count ?? 0
      return RunStatus(run: entry.json, counts: [try await counts(of: entry.run, worker, sent: sent)])
    }
    return try await counts(of: entry.run, entry.action, since: entry.startedAt, among: readers, limit: limit)
      .map { RunStatus(run: entry.json, counts: $0) }
  }

  /// Returns what became of the records that a run wrote to topics that workers read.
  /// - Parameter limit: The largest number of records to keep in memory; nil for no limit.
  /// - Returns: Empty if the run wrote none; nil if it wrote more than the limit.
  package func counts(
    of run: String, _ action: AuditRecord.Action, since start: Timestamp, among readers: RunReaders,
    limit: Int? = nil
  ) async throws -> [RunStatus.Counts]? {
    let topics: [String] =
      switch action {
      case .backfill: readers.notificationTopics
      case .importRequest: [prefix + NotificationFamily.subscriptionImports.topic]
      case .refundCheck: [prefix + NotificationFamily.foundRefunds.topic]
      default: []
      }
    guard !topics.isEmpty else { return [] }
    return try await RunSurvey.read(
      run, since: start, in: topics, of: readers.workers, prefix: prefix, clock: recordClock, log: log,
      limit: limit
    )?.map { RunStatus.Counts(worker: $0.worker, json: $0.json) }
  }

  private func counts(of run: String, _ worker: String, sent: Int64) async throws -> RunStatus.Counts {
    let topics = WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix)
    return .init(worker: nil, json: try await RunOutcome.read(run, topics, in: log).json(of: sent))
  }
}
