// What an operator wants of a run that another process works on.

internal import AppStore
internal import Clocks
internal import Millrace
internal import Operations

/// Lets runs wait, go on or end, on the record.
struct RunDesk: Sendable {
  let log: any RecordLog
  let prefix: String
  let clock: MillraceClock
  /// The time that operators live in.
  let real: MillraceClock
  let user: String

  /// - Throws: ``OperationError`` for a run that is over, or where the trail cannot be written.
  func wish(_ wish: RunVerb, forReplay id: String) async throws {
    let replays = ReplayOperation(
      on: log, prefix: prefix, author: user, source: DeadLetterDesk.source, clock: clock)
    try await replays.control(id, wish)
  }

  /// - Throws: ``OperationError`` for a run that is over, or where the trail cannot be written.
  func wish(_ wish: RunVerb, for run: BackfillRun) async throws {
    try await BackfillLog(on: log, prefix: prefix).wish(
      wish, for: run, by: user, source: DeadLetterDesk.source, at: clock.wallTime, pulse: real.wallTime)
  }
}
