// What the tasks of one run share: which slice is next, how far each is, and what an operator wants.

internal import AppStore
internal import Millrace

/// How far a run is.
actor BackfillProgress {
  private(set) var run: BackfillRun
  private(set) var wish: RunVerb?
  private var waiting: ArraySlice<BackfillSlice>
  private var marks: [Int: BackfillMark]

  init(_ run: BackfillRun, _ table: BackfillTable) {
    let slices = run.slices
    let marks = table.marks(of: run.id)
    self.run = run
    self.marks = marks
    waiting = slices.filter { marks[$0.number]?.isDone != true }[...]
    self.run.slicesDone = slices.count - waiting.count
    self.run.counts = marks.values.reduce(BackfillCounts()) { $0 + $1.counts }
    wish = table.wish(for: run.id)
  }

  /// The next slice and where it stands; nil when none is left.
  func next() -> (BackfillSlice, BackfillMark)? {
    waiting.popFirst().map { ($0, marks[$0.number] ?? BackfillMark()) }
  }

  /// Takes what Kafka has by now.
  func advance(_ slice: BackfillSlice, to mark: BackfillMark) {
    let before = marks[slice.number] ?? BackfillMark()
    marks[slice.number] = mark
    run.counts = marks.values.reduce(BackfillCounts()) { $0 + $1.counts }
    if mark.isDone, !before.isDone { run.slicesDone += 1 }
  }

  /// Takes what others wrote.
  /// - Throws: ``OperationError`` where another process has the run now.
  func hear(_ table: BackfillTable, at now: Timestamp) throws(OperationError) -> BackfillRun {
    if let kept = table[run.id], kept.owner != run.owner {
      throw OperationError(
        .failed, "another process goes on with the run", at: run.id, remedy: "nothing: look at millrace backfill list")
    }
    wish = table.wish(for: run.id)
    run.state = wish == .pause ? .paused : .running
    run.updatedAt = now
    return run
  }

  /// The run at its end.
  func end(_ state: BackfillRun.State, detail: String? = nil, at now: Timestamp) -> BackfillRun {
    run.state = state
    run.detail = detail
    run.updatedAt = now
    return run
  }
}
