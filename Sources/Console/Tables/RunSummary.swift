// A common summary of replays and backfills for pages. Pure.

internal import AppStore
internal import KafkaClient
internal import MillraceWorker
internal import Operations

/// A replay, a backfill or another action whose records workers handle.
struct RunSummary: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case replay
    case backfill
    /// Another action in the audit trail.
    case action
  }

  var kind: Kind
  var id: String
  /// A one-line description of the run.
  var title: String
  /// Progress, counted in ``unit``.
  var done: Int64
  var total: Int64
  /// The unit of ``done`` and ``total``, such as `slices`.
  var unit: String
  var state: String
  var tone: Tone
  var by: String
  var startedAt: Timestamp
  var heardAt: Timestamp
  /// Further details.
  var facts: [TimelineEntry.Fact]
  /// The actions that an operator can take now.
  var verbs: [RunVerb]

  var link: String { Link.to(["runs", id]) }
  var progressWords: String { "\(Words.count(done)) of \(Words.count(total)) \(unit)" }

  init(_ run: ReplayRun) {
    (kind, id, by, startedAt, heardAt) = (.replay, run.id, run.by, run.startedAt, run.heardAt)
    title = "\(run.isReapply ? "reapply" : "replay") to \(run.target)"
    (done, total, unit) = (run.offsetsDone, run.offsets, "offsets")
    (state, tone) =
      switch run.state {
      case .running: ("running", .plain)
      case .paused: ("paused", .warn)
      case .stopping: ("stopping", .warn)
      case .stopped: ("stopped", .plain)
      case .done: ("done", .good)
      case .failed: ("failed", .bad)
      case .incomplete: ("incomplete", .bad)
      }
    let partitions = run.parts.map(\.partition)
    facts = [
      .init(name: "sent", value: Words.count(run.sent)), .init(name: "why", value: run.why),
      .init(name: "\(run.verb?.participle ?? "stopped") by", value: run.steeredBy ?? ""),
      .init(name: "from", value: Set(partitions.map(\.topic)).sorted().joined(separator: ", ")),
      .init(
        name: "partitions",
        value: run.missing > 0 ? "\(partitions.count); \(run.missing) were never requested" : "\(partitions.count)"),
      .init(name: "selection", value: String(decoding: JSON.object(run.selection.json).serialized(), as: UTF8.self)),
      .init(name: "rate", value: run.rate.map { "at most \($0) records per second" } ?? ""),
      .init(name: "failures", value: run.failures.joined(separator: "; ")),
    ]
    verbs =
      switch run.state {
      case .running: [.pause, .stop]
      case .paused: [.resume, .stop]
      case .incomplete: [.stop]
      case .stopping, .stopped, .done, .failed: []
      }
  }

  init(_ run: BackfillRun, at now: Timestamp) {
    (kind, id, by, startedAt, heardAt) = (.backfill, run.id, run.by, run.startedAt, run.updatedAt)
    title =
      "backfill of \(Words.moment(run.selection.from).prefix(16)) to \(Words.moment(run.selection.to).prefix(16))"
    (done, total, unit) = (Int64(run.slicesDone), Int64(run.slices.count), "slices")
    let isAlive = run.isAlive(at: now)
    (state, tone) =
      switch run.state {
      case .running where !isAlive: ("no process", .warn)
      case .running: ("running", .plain)
      case .paused: ("paused", .warn)
      case .done: ("done", .good)
      case .stopped: ("stopped", .plain)
      case .failed: ("failed: \(run.detail ?? "")", .bad)
      }
    facts = [
      .init(name: "selection", value: run.selection.sentence),
      .init(name: "published", value: Words.count(run.counts.published)),
      .init(name: "quarantined", value: Words.count(run.counts.quarantined)),
      .init(name: "pages", value: Words.count(run.counts.pages)), .init(name: "process", value: run.owner),
    ]
    verbs = run.state.isOver ? [] : run.state == .paused ? [.resume, .stop] : [.pause, .stop]
  }
}

extension ConsoleTables {
  /// Returns all runs, the newest first.
  func runSummaries(at now: Timestamp) -> [RunSummary] {
    let all = replays.runs.map { RunSummary($0) } + backfills.runs.map { RunSummary($0, at: now) }
    return all.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }
  }
}
