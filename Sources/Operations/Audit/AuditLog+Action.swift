// Records an action of one part: its start before anything is done, then its result.

package import AppStore
package import MillraceRecords
package import MillraceTime
internal import MillraceWorker

extension AuditLog {
  /// The result of an action.
  package typealias End = (result: AuditRecord.Result, counts: [AuditRecord.Count])

  /// Performs and records an action. If the start cannot be recorded, nothing is done.
  ///
  /// - Parameters:
  ///   - run: The run's ID.
  ///   - by: The operator.
  ///   - source: The name of this program.
  ///   - recordsAfterwards: Whether the action may create the trail's topic, so that its start is recorded after it.
  ///   - end: Converts the result for the audit trail.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`; the error of `work`.
  package func record<Result>(
    _ action: AuditRecord.Action, run: String = CommandID.new(), by: String, source: String = "millrace",
    clock: MillraceClock, why: String? = nil, target: String? = nil, selection: JSONObject? = nil,
    recordsAfterwards: Bool = false, _ work: () async throws -> Result,
    end: (Result) -> End
  ) async throws -> Result {
    func record(_ phase: AuditRecord.Phase) -> AuditRecord {
      AuditRecord(
        run: run, action, phase, by: by, source: source, at: clock.wallTime, why: why, target: target,
        selection: selection)
    }
    func ended(_ end: End) -> AuditRecord {
      record(.ended(part: AuditRecord.everything, result: end.result, counts: end.counts))
    }
    let start = record(.started(parts: 1))
    if !recordsAfterwards { try await append([start]) }
    do {
      let result = try await work()
      if recordsAfterwards { await endRegardless(start) }
      await endRegardless(ended(end(result)))
      return result
    } catch {
      await endEarly(by: error) { ended(($0, [])) }
      throw error
    }
  }
}

extension ResubmissionSummary {
  /// The result for the audit trail.
  package var audited: AuditLog.End {
    (
      failed > 0 ? .failed("\(failed) not written to Kafka") : .done,
      [.init("published", Int64(admitted)), .init("refused", Int64(refused)), .init("failed", Int64(failed))]
    )
  }
}

extension TopicsOperation {
  /// Applies the changes of a survey, and records that. Otherwise like ``apply(_:note:)``.
  package func apply(
    _ survey: TopicsSurvey, by author: String, recordedIn audit: AuditLog, clock: MillraceClock, note: (String) -> Void
  ) async throws -> [String] {
    let createsTrail = survey.changes.contains { step in
      if case .create(let topic, _, _, _) = step { topic == audit.topic } else { false }
    }
    let selection: JSONObject = ["topics": .array(survey.changes.map { .string($0.topic) })]
    return try await audit.record(
      .topicsApply, by: author, clock: clock, selection: selection, recordsAfterwards: createsTrail
    ) {
      try await apply(survey, note: note)
    } end: { failures in
      (
        failures.first.map { .failed($0) } ?? .done,
        [.init("changed", Int64(survey.changes.count - failures.count)), .init("failed", Int64(failures.count))]
      )
    }
  }
}
