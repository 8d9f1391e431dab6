// The shared state of a run's tasks: the next slice, the progress of each, and the operator's request.

internal import AppStore
internal import MillraceWorker

/// The progress of a run.
actor BackfillProgress {
  private(set) var run: BackfillRun
  private(set) var control: RunVerb?
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
    control = table.control(on: run.id)
  }

  /// The next slice and its progress; nil if none is left.
  func next() -> (BackfillSlice, BackfillMark)? {
    waiting.popFirst().map { ($0, marks[$0.number] ?? BackfillMark()) }
  }

  /// Records the progress of a slice whose page is in Kafka.
  func advance(_ slice: BackfillSlice, to mark: BackfillMark) {
    let before = marks[slice.number] ?? BackfillMark()
    marks[slice.number] = mark
    run.counts = marks.values.reduce(BackfillCounts()) { $0 + $1.counts }
    if mark.isDone, !before.isDone { run.slicesDone += 1 }
  }

  /// Adds the changes that other processes wrote.
  /// - Throws: ``OperationError`` if another process owns the run now.
  func hear(_ table: BackfillTable, at now: Timestamp) throws(OperationError) -> BackfillRun {
    if let kept = table[run.id], kept.owner != run.owner {
      throw OperationError(
        .failed, "another process took over the run", at: run.id, remedy: "look at millrace backfill list")
    }
    control = table.control(on: run.id)
    run.state = control == .pause ? .paused : .running
    run.updatedAt = now
    return run
  }

  /// Ends the run with a state.
  func end(_ state: BackfillRun.State, detail: String? = nil, at now: Timestamp) -> BackfillRun {
    run.state = state
    run.detail = detail
    run.updatedAt = now
    return run
  }
}
