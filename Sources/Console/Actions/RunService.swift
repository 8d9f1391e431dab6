// Controls replays and backfills that run in other processes.

internal import AppStore
internal import MillraceTime
internal import MillraceRecords
internal import MillraceWorker
internal import Operations

/// Pauses, resumes and stops runs, and records each action in the audit trail.
struct RunService: Sendable {
  let log: any RecordLog
  let prefix: String
  let clock: MillraceClock
  /// Real time. `clock` may run faster in a rehearsal.
  let real: MillraceClock
  let user: String

  /// - Throws: ``OperationError`` if the run has ended or the audit record cannot be written.
  func control(_ verb: RunVerb, ofReplay id: String) async throws {
    let replays = ReplayOperation(
      on: log, prefix: prefix, author: user, source: DeadLetterService.source, clock: clock)
    try await replays.control(id, verb)
  }

  /// - Throws: ``OperationError`` if the run has ended or the audit record cannot be written.
  func control(_ verb: RunVerb, of run: BackfillRun) async throws {
    try await BackfillLog(on: log, prefix: prefix).control(
      verb, of: run, by: user, source: DeadLetterService.source, at: clock.wallTime, pulse: real.wallTime)
  }
}
