// A lane sends a part of a replay to its own worker: copies, place and end are writes of the lane like any other.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Synchronization

extension LaneRunner {
  /// Carries a part out to its end, or to the end of the lane.
  nonisolated func replay(
    _ command: OperationCommand, _ part: ReplayPart, _ desk: OperationsDesk, leavingOut earlier: Set<SentCopy>
  ) async throws {
    let bell = LaneBell()
    desk.attach(bell)
    defer { desk.detach(bell) }
    let noted = NotedPlace()
    let host = LaneReplay(lane: self, command: command, part: part, desk: desk, earlier: earlier, noted: noted)
    let runner = ReplayRunner(
      log: parts.log, partition: TopicPartition(topic: part.topic, partition: epoch.lane), part: part,
      clock: parts.clock, bell: bell)
    try await untilKafkaAnswers("a replay waits") {
      // What this lane has written counts before what was read back.
      let read = await desk.place(of: command) ?? ReplayPlace(next: part.from, sent: 0)
      let place = noted.place ?? read
      try await runner.run(from: place, on: host)
    } failed: { why in
      let read = await desk.place(of: command)?.sent ?? 0
      try await host.end(.failed("\(why)"), sent: noted.place?.sent ?? read)
    }
  }
}

/// Where the last write of a part stands.
private final class NotedPlace: Sendable {
  private let content = Mutex<ReplayPlace?>(nil)

  var place: ReplayPlace? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}

/// The lane as the host of a replay.
private struct LaneReplay: ReplayHost {
  let lane: LaneRunner
  let command: OperationCommand
  let part: ReplayPart
  let desk: OperationsDesk
  let earlier: Set<SentCopy>
  let noted: NotedPlace

  func word() async -> ReplayWord {
    await lane.isDraining ? .over : await desk.word(on: command, rate: part.rate)
  }

  func send(_ records: [ConsumerRecord], behind place: ReplayPlace) async throws {
    let mode = part.isReapply ? Provenance.ReplayMode.reapply : .plain
    var copies: [ProducerRecord] = []
    for record in records {
      let first = Provenance(record).first
      if !earlier.isEmpty, earlier.contains(SentCopy(run: command.replayID, first: first)) { continue }
      let copy = lane.copy(of: record, for: command, mode: mode)
      guard !copy.isTooLarge else {
        throw KafkaError(
          code: .messageTooLarge, operation: "send \(first) again",
          reason: "a record of \(copy.bytes) bytes is too large with its history")
      }
      copies.append(copy)
    }
    // A batch of copies is one write however large it is: its place is that of the last.
    try await lane.conclude([CarriedOut(command, .progress(next: place.next), sent: place.sent, records: copies)])
    noted.place = place
  }

  func end(_ outcome: OperationResult.Outcome, sent: Int64) async throws {
    var step = CarriedOut(command, outcome, sent: sent)
    let (topics, clock) = (lane.parts.topics, lane.parts.clock)
    let record = command.auditEnd(
      part, outcome, sent: sent, source: "millrace/\(topics.worker)", at: clock.wallTime)
    if let record { step.notes = [record.producerRecord(prefix: lane.parts.planner.records.prefix)] }
    try await lane.conclude([step])
  }
}

extension OperationCommand {
  /// What the audit trail is told when a part of a run is over; nil for a command that is part of none.
  func auditEnd(
    _ part: ReplayPart, _ outcome: OperationResult.Outcome, sent: Int64, source: String, at time: Timestamp
  ) -> AuditRecord? {
    let result: AuditRecord.Result? =
      switch outcome {
      case .done: .done
      case .stopped: .stopped
      case .failed(let detail): .failed(detail)
      case .progress: nil
      }
    guard let run, let result else { return nil }
    return AuditRecord(
      run: run, part.isReapply ? .reapply : .replay,
      .ended(part: "\(part.topic)/\(lane)", result: result, counts: [AuditRecord.Count("sent", sent)]), by: by,
      source: source, at: time, target: part.target ?? worker)
  }
}
