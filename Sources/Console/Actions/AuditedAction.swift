// Every action is in the audit trail before it is begun, with the name that the proxy gave, and again when it is over.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Millrace
internal import Operations

/// Does what one user asks for, on the record.
struct AuditedAction: Sendable {
  let log: any RecordLog
  let prefix: String
  let clock: MillraceClock
  let user: String
  let patience: Duration

  static let source = "millrace-console"

  /// Lets a backfill wait, go on or end.
  /// - Throws: ``OperationError`` for a run that is over, or where the trail cannot be written.
  func wish(_ wish: BackfillRun.Wish, for run: BackfillRun) async throws {
    let action: AuditRecord.Action =
      switch wish {
      case .pause: .pause
      case .resume: .resume
      case .stop: .stop
      }
    let audit = AuditLog(on: log, prefix: prefix)
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(run: run.id, action, phase, by: user, source: Self.source, at: clock.wallTime, target: "backfill")
    }
    try await audit.append([record(.started(parts: 1))])
    try await BackfillLog(on: log, prefix: prefix).wish(wish, for: run, by: user, at: clock.wallTime)
    try await audit.append([record(.ended(part: "wish", result: .done, counts: []))])
  }

  /// Settles dead letters.
  /// - Throws: ``OperationError`` where the trail cannot be written: then nothing is done.
  func settle(
    _ decision: Decision, _ keys: [DeadLetterSummary.Key], why: String
  ) async throws -> [DecisionOutcome] {
    let audit = AuditLog(on: log, prefix: prefix)
    let run = CommandID.new()
    let action: AuditRecord.Action = decision == .requeue ? .requeue : .discard
    let workers = Set(keys.map(\.worker)).sorted()
    let selection: JSONObject = [
      "items": .array(keys.prefix(DeadLetterDesk.limit).map { .string("\($0.worker)/\($0.id)") })
    ]
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(
        run: run, action, phase, by: user, source: Self.source, at: clock.wallTime, why: why,
        target: workers.joined(separator: ", "), selection: selection)
    }
    try await audit.append([record(.started(parts: 1))])
    do {
      let desk = DeadLetterDesk(log: log, prefix: prefix, clock: clock, patience: patience)
      let outcomes = try await desk.settle(decision, keys, why: why, by: user)
      let counts = [("done", Tone.good), ("unanswered or second", .warn), ("failed", .bad)].map { name, tone in
        AuditRecord.Count(name, Int64(outcomes.count { $0.tone == tone }))
      }.filter { $0.count > 0 }
      try await audit.append([record(.ended(part: "console", result: .done, counts: counts))])
      return outcomes
    } catch {
      try await audit.append([record(.ended(part: "console", result: .failed("\(error)"), counts: []))])
      throw error
    }
  }
}
