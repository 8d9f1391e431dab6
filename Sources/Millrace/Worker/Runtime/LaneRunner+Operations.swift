// An operator's command, carried out by the lane that owns its item: what it does and the result are one write.

internal import AppStore
internal import Clocks
internal import Kafka

extension LaneRunner {
  private static let replayPage = 200

  /// Carries out commands until the lane ends.
  nonisolated func obey(_ desk: OperationsDesk) async throws {
    for await command in try await desk.commands(for: epoch) {
      try Task.checkCancellation()
      guard await desk.isOpen(command), await !isDraining else { continue }
      try await carryOut(command, from: await desk.progress(of: command))
    }
  }

  private nonisolated func carryOut(_ command: OperationCommand, from progress: Int64?) async throws {
    switch command.action {
    case .discard: try await conclude(command, .done, [])
    case .requeue:
      guard let position = command.deadLetterOffset else {
        return try await conclude(command, .failed("the item names no dead letter"), [])
      }
      let letter = try await read(parts.topics.deadLetters, position, limit: 1).first
      guard let letter, letter.offset == position else {
        return try await conclude(command, .failed("the dead letter is gone: its topic's retention is over"), [])
      }
      try await conclude(command, .done, [copy(of: letter, for: command, mode: .requeue)])
    case .replay(let topic, let from, let to, let isReapply):
      var next = max(from, progress ?? from)
      while next < to {
        let page = try await read(topic, next, limit: Self.replayPage).filter { $0.offset < to }
        next = page.last.map { $0.offset + 1 } ?? to
        let copies = page.map { copy(of: $0, for: command, mode: isReapply ? .reapply : .plain) }
        guard next < to else { return try await conclude(command, .done, copies) }
        try await conclude(command, .progress(next: next), copies)
      }
      try await conclude(command, .done, [])
    }
  }

  /// At most `limit` records of this lane's partition from an offset on.
  private nonisolated func read(_ topic: String, _ offset: Int64, limit: Int) async throws -> [ConsumerRecord] {
    let partition = TopicPartition(topic: topic, partition: epoch.lane)
    let range = try await parts.log.highWatermarks(of: [partition], timeout: .seconds(30))[partition]
    guard let range, offset < range.upperBound else { return [] }
    let page = RecordPage()
    try await parts.log.scan(
      partition, from: .offset(max(offset, range.lowerBound)),
      to: .offset(min(range.upperBound, offset + Int64(limit))), upTo: limit
    ) { await page.append($0) }
    return await page.records
  }

  private nonisolated func copy(
    of record: ConsumerRecord, for command: OperationCommand, mode: Provenance.ReplayMode
  ) -> ProducerRecord {
    var history = Provenance(record)
    history.replay = Provenance.Replay(id: command.id, mode: mode, why: command.why)
    // The history of attempts stays in the causes; the count begins anew, or a requeue would die at once.
    history.attempt = 0
    history.due = nil
    history.parkedAt = nil
    return parts.planner.records.parked(record, on: parts.topics.replay, history: history)
  }

  /// Writes what a step does together with its result, and waits until both are in Kafka.
  private nonisolated func conclude(
    _ command: OperationCommand, _ outcome: OperationResult.Outcome, _ records: [ProducerRecord]
  ) async throws {
    let result = OperationsRecord.result(
      OperationResult(
        command: command.id, item: command.item, worker: command.worker, outcome: outcome, at: parts.clock.wallTime))
    let note = ProducerRecord(
      topic: parts.topics.operations, partition: 0, key: result.key, value: result.json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
    let receipt = WriteReceipt()
    await submit(LaneWrite(lane: epoch, records: records + [note], isUrgent: true, receipt: receipt))
    guard await receipt.fate() == .committed else { throw CancellationError() }
  }
}

/// Gathers what a scan hands out.
private actor RecordPage {
  private(set) var records: [ConsumerRecord] = []

  func append(_ page: [ConsumerRecord]) { records += page }
}

extension OperationCommand {
  /// The offset of the dead letter that the item names; nil for other items.
  var deadLetterOffset: Int64? {
    let parts = item.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "dead-letters", Int32(parts[1]) == lane else { return nil }
    return Int64(parts[2])
  }
}
