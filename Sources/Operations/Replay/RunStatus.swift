// What became of the records of a run, for people and scripts.

package import AppStore
internal import MillraceRecords
internal import MillraceWorker

/// A run, and what became of its records.
package struct RunStatus: Sendable, Hashable {
  /// The run, as `millrace replay list` or `millrace audit` prints it.
  package var run: JSONObject
  /// The number of records that the run has sent, and what became of them; nil if no worker handles them for the run.
  package var outcome: JSONObject?

  /// The status as one line of JSON.
  package var jsonLine: String {
    var json = run
    json["outcome"] = outcome.map { .object($0) }
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
    sheet.beginGroup()
    if let outcome { sheet.add(outcome: outcome) }
    return sheet.lines(usesColor: usesColor)
  }
}

extension FactSheet {
  private static let outcomeLabels = [
    ("records", "records"), ("skipped", "skipped"), ("unchanged", "unchanged"), ("superseded", "superseded"),
    ("new", "new"), ("deadLetters", "dead letters"), ("wouldCall", "would call"), ("waiting", "waiting"),
    ("events", "events"), ("timersThatWouldCall", "timers that would call"),
  ]

  /// Adds the counts of `RunOutcome` or `DryRunReport`.
  package mutating func add(outcome: JSONObject) {
    for (name, label) in Self.outcomeLabels {
      if case .integer(let count)? = outcome[name] { add(label, "\(count)") }
    }
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
    }
    return lines
  }
}

extension ReplayOperation {
  /// Returns a run and the outcome of its records so far. A run that is not a replay comes from the audit trail.
  /// - Throws: ``OperationError`` if no run or more than one run matches; `KafkaError`.
  package func status(of name: String) async throws -> RunStatus {
    let book = try await book()
    let entries = try await AuditLog(on: log, prefix: prefix).trail().entries.filter {
      !name.isEmpty && $0.run.hasPrefix(name) && book[$0.run] == nil
    }
    guard let entry = entries.first, entries.count == 1 else {
      let run = try book.run(named: name)
      guard case .worker(let worker) = run.target else { return RunStatus(run: run.json) }
      return RunStatus(run: run.json, outcome: try await outcome(of: run.id, worker).json(of: run.sent))
    }
    guard entry.action == .requeue, let worker = entry.target else { return RunStatus(run: entry.json) }
    let sent = entry.counts.first { $0.name == "requeued" }?.count ?? 0
    return RunStatus(run: entry.json, outcome: try await outcome(of: entry.run, worker).json(of: sent))
  }

  private func outcome(of run: String, _ worker: String) async throws -> RunOutcome {
    try await .read(run, WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix), in: log)
  }
}
