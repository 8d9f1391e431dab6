// The audit trail combined with the latest activity of each run, as `millrace audit` shows it. Pure.

package import AppStore
internal import MillraceWorker

/// All actions of operators and their current status.
package struct AuditSurvey: Sendable {
  /// The recorded starts and ends.
  package var trail: AuditTrail
  /// The latest activity of each run.
  package var pulse: RunHeartbeat
  /// The time of the survey.
  package var at: Timestamp

  /// Creates a survey.
  package init(_ trail: AuditTrail, _ pulse: RunHeartbeat, at time: Timestamp) {
    (self.trail, self.pulse, at) = (trail, pulse, time)
  }

  /// One action and its status.
  package struct Line: Sendable, Hashable {
    /// The action.
    package var entry: AuditEntry
    /// Its status.
    package var status: AuditEntry.Status
  }

  /// The actions, ordered by start time.
  /// - Parameter isOpenOnly: Omits finished actions.
  package func lines(isOpenOnly: Bool = false) -> [Line] {
    trail.entries.filter { !isOpenOnly || !$0.isOver }.map { Line(entry: $0, status: $0.status(pulse, at: at)) }
  }
}

extension AuditSurvey.Line: Reportable {
  /// The columns of ``row``.
  package static let columns = [
    TextColumn("BEGAN"), TextColumn("WHAT"), TextColumn("BY"), TextColumn("TO"), TextColumn("RESULT"),
    TextColumn("HOW MANY"), TextColumn("RUN"), TextColumn("WHY"),
  ]

  /// The cells of one table row.
  package var row: [TextCell] {
    let state: TextCell =
      switch status {
      case .over(let result):
        TextCell(
          [result.rawValue, result.detail].compactMap { $0 }.joined(separator: ": "),
          result == .done ? .green : result == .stopped ? .yellow : .red)
      case .goingOn: "running"
      case .paused: TextCell("paused", .yellow)
      case .silent(let since): TextCell("silent since \(RecordView.seconds(since))", .yellow)
      }
    let counts = entry.counts.filter { $0.count != 0 }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    return [
      TextCell(RecordView.seconds(entry.startedAt), .dim), TextCell(entry.action.rawValue), TextCell(entry.by),
      TextCell(entry.target ?? ""), state, TextCell(counts), TextCell(entry.run, .cyan), TextCell(entry.why ?? ""),
    ]
  }

  /// The entry with its status: `state` is `over`, `running`, `paused` or `silent`; `silentSince` is set with `silent`.
  package var jsonLine: String {
    var json = entry.json
    switch status {
    case .over: json["state"] = "over"
    case .goingOn: json["state"] = "running"
    case .paused: json["state"] = "paused"
    case .silent(let since):
      json["state"] = "silent"
      json["silentSince"] = .string(since.rfc3339)
    }
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
