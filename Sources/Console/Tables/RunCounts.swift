// What became of the records of a run, for its page. Reading it takes a while, so the tables do not have it.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations

/// The counts of a run by worker, or the reason why they are unknown.
enum RunCounts: Sendable, Hashable {
  case known([RunStatus.Counts])
  case unknown(String)

  /// The largest number of records of a run that a page counts. More would take the memory of the other pages.
  static let limit = 50_000
}

extension ConsoleTables {
  /// Returns the start of an action in the audit trail, with its status; nil if no action whose records workers handle has
  /// this ID.
  func action(_ id: String, at now: Timestamp) -> AuditSurvey.Line? {
    auditLines(at: now).first { $0.entry.run == id && $0.entry.action.hasOutcomes }
  }
}

extension RunSummary {
  /// The largest part of a selection that a page shows, in characters.
  private static let shownSelection = 2_000

  /// Creates the summary of an action that is neither a replay nor a backfill.
  init(_ line: AuditSurvey.Line) {
    let entry = line.entry
    (kind, id, by, startedAt) = (.action, entry.run, entry.by, entry.startedAt)
    heardAt = entry.endedAt ?? entry.startedAt
    title = entry.action.rawValue + (entry.target.map { " · \($0)" } ?? "")
    (done, total, unit) = (Int64(entry.results.count), Int64(entry.parts), entry.parts == 1 ? "part" : "parts")
    (state, tone) =
      switch line.status {
      case .over(let result):
        ([result.rawValue, result.detail].compactMap(\.self).joined(separator: ": "), result == .done ? .good : .warn)
      case .goingOn: ("running", .plain)
      case .paused: ("paused", .warn)
      case .silent: ("silent", .warn)
      }
    facts = entry.counts.map { .init(name: $0.name, value: Words.count($0.count)) }
    facts += [
      .init(name: "why", value: entry.why ?? ""),
      .init(
        name: "selection",
        value: entry.selection.map {
          String(String(decoding: JSON.object($0).serialized(), as: UTF8.self).prefix(Self.shownSelection))
        } ?? ""),
      .init(name: "recorded by", value: entry.source),
    ]
    verbs = []
  }
}
