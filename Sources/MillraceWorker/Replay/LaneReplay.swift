// Replays a part to the lane's own worker. Copies, progress and the result are ordinary writes of the lane.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Synchronization
internal import MillraceRecords

extension LaneCommands {
  /// Executes a part of a replay until the part or the lane ends.
  func replay(
    _ command: OperationCommand, _ part: ReplayPart, leavingOut earlier: Set<SentCopy>
  ) async throws {
    let wakeUp = AsyncSignal()
    consumer.attach(wakeUp)
    defer { consumer.detach(wakeUp) }
    let noted = ReplayCheckpoint()
    let host = LaneReplay(commands: self, command: command, part: part, earlier: earlier, noted: noted)
    let runner = ReplayRunner(
      log: lane.parts.log, partition: TopicPartition(topic: part.topic, partition: lane.epoch.lane), part: part,
      clock: lane.parts.clock, recordClock: lane.parts.clock, wakeUp: wakeUp)
    try await untilKafkaAnswers("a replay is waiting") {
      // Progress that this lane has written takes precedence over progress that was read back.
      let read = await consumer.place(of: command) ?? ReplayPlace(next: part.from, sent: 0)
      let place = noted.place ?? read
      try await runner.run(from: place, on: host)
    } failed: { why in
      let read = await consumer.place(of: command)?.sent ?? 0
      try await host.end(.failed("\(why)"), sent: noted.place?.sent ?? read)
    }
  }
}

/// The progress recorded by the last write of a part.
private final class ReplayCheckpoint: Sendable {
  private let content = Mutex<ReplayPlace?>(nil)

  var place: ReplayPlace? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}

/// A replay host that writes through the lane.
private struct LaneReplay: ReplayHost {
  let commands: LaneCommands
  let command: OperationCommand
  let part: ReplayPart
  let earlier: Set<SentCopy>
  let noted: ReplayCheckpoint

  func control() async -> ReplayControl {
    await commands.lane.isDraining ? .over : await commands.consumer.control(on: command, rate: part.rate)
  }

  func send(_ records: [ConsumerRecord], behind place: ReplayPlace) async throws {
    let mode = part.isReapply ? DeliveryHistory.ReplayMode.reapply : .plain
    var copies: [ProducerRecord] = []
    for record in records {
      let first = commands.history(of: record).first
      if !earlier.isEmpty, earlier.contains(SentCopy(run: command.replayID, first: first)) { continue }
      let copy = commands.copy(of: record, for: command, mode: mode)
      guard !copy.isTooLarge else {
        throw KafkaError(
          code: .messageTooLarge, operation: "send \(first) again",
          reason: "a record of \(copy.bytes) bytes is too large with its history")
      }
      copies.append(copy)
    }
    // A batch of copies is always one write, because its progress is the position of the last copy.
    try await commands.conclude([CarriedOut(command, .progress(next: place.next), sent: place.sent, records: copies)])
    noted.place = place
  }

  func end(_ outcome: OperationResult.Outcome, sent: Int64) async throws {
    var step = CarriedOut(command, outcome, sent: sent)
    let parts = commands.lane.parts
    let record = command.auditEnd(
      part, outcome, sent: sent, source: "millrace/\(parts.topics.worker)", at: parts.clock.wallTime)
    if let record { step.notes = [record.producerRecord(prefix: parts.planner.records.prefix)] }
    try await commands.conclude([step])
  }
}

extension OperationCommand {
  /// Returns the audit record for the end of a part, or nil if the command belongs to no run.
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
