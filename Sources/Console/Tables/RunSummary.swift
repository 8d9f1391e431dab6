// Replays and backfills alike, as a page shows them. Pure.

internal import AppStore
internal import Kafka
internal import Millrace
internal import Operations

/// One run.
struct RunSummary: Sendable, Hashable {
  /// Whose run it is.
  enum Kind: Sendable, Hashable {
    case replay
    case backfill
  }

  var kind: Kind
  var id: String
  /// What it does, in a line.
  var title: String
  /// What is done, of how many.
  var done: Int64
  var total: Int64
  /// What is counted.
  var unit: String
  var state: String
  var tone: Tone
  var by: String
  var startedAt: Timestamp
  var heardAt: Timestamp
  /// What else there is to say.
  var facts: [StoryEntry.Fact]
  /// What an operator may want of it now.
  var wishes: [BackfillRun.Wish]

  var link: String { Link.to(["runs", id]) }
  var progressWords: String { "\(Words.count(done)) of \(Words.count(total)) \(unit)" }

  init(_ run: RunTable.Run) {
    (kind, id, by, startedAt, heardAt) = (.replay, run.id, run.by, run.startedAt, run.changedAt)
    title = "\(run.isReapply ? "reapply" : "replay") to \(run.worker)"
    (done, total, unit) = (run.sent, run.total, "records")
    (state, tone) =
      switch run.state {
      case .waiting: ("not begun", .plain)
      case .running: ("going on", .plain)
      case .done: ("done", .good)
      case .failed(let why): ("failed: \(why)", .bad)
      }
    facts = [.init(name: "from", value: "\(run.topic), partition \(run.lane)"), .init(name: "why", value: run.why)]
    wishes = []
  }

  init(_ run: BackfillRun, at now: Timestamp) {
    (kind, id, by, startedAt, heardAt) = (.backfill, run.id, run.by, run.startedAt, run.updatedAt)
    title =
      "backfill of \(Words.moment(run.selection.from).prefix(16)) to \(Words.moment(run.selection.to).prefix(16))"
    (done, total, unit) = (Int64(run.slicesDone), Int64(run.slices.count), "slices")
    let isAlive = run.isAlive(at: now)
    (state, tone) =
      switch run.state {
      case .running where !isAlive: ("nobody works on it", .warn)
      case .running: ("going on", .plain)
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
    wishes = run.state.isOver ? [] : run.state == .paused ? [.resume, .stop] : [.pause, .stop]
  }
}

extension ConsoleTables {
  /// All runs, the newest first.
  func runSummaries(at now: Timestamp) -> [RunSummary] {
    let all = runs.newestFirst.map { RunSummary($0) } + backfills.runs.map { RunSummary($0, at: now) }
    return all.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }
  }
}
