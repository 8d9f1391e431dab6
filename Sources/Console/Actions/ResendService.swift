// Posts an event to a webhook again, by the same command as `millrace replay --reapply`.

internal import KafkaClient
internal import MillraceRecords
internal import MillraceTime
internal import MillraceWorker
internal import Operations

/// Sends events to one webhook again.
struct ResendService: Sendable {
  let log: any RecordLog
  let prefix: String
  let worker: String
  let clock: MillraceClock
  let user: String

  /// Starts a run that sends one event again.
  /// - Returns: The run's ID; nil if the event is gone.
  /// - Throws: ``OperationError``; `KafkaError`.
  func resend(_ position: RecordPosition, why: String) async throws -> String? {
    let replay = ReplayOperation(
      on: log, prefix: prefix, author: user, source: DeadLetterService.source, clock: clock, recordClock: clock)
    var selection = RecordSelection()
    (selection.topics, selection.partitions) = ([position.topic], [position.partition])
    (selection.from, selection.to) = (position.offset, position.offset + 1)
    let plan = try await replay.plan(ReplayRequest(selection, to: .worker(worker), reapply: why))
    return try await replay.begin(plan)?.id
  }
}
