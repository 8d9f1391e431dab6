// An operator's command, carried out by the lane that owns its item: what it does and the result are one write.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging

extension LaneRunner {
  private static let replayPage: Int64 = 200

  /// Carries out commands until the lane ends.
  nonisolated func obey(_ desk: OperationsDesk) async throws {
    for await command in try await desk.commands(for: epoch) {
      try Task.checkCancellation()
      while await desk.isOpen(command), await !isDraining {
        do {
          try await carryOut(command, from: await desk.progress(of: command))
          break
        } catch let error as KafkaError where error.isRetriable {
          parts.logger.warning(
            "a command waits for Kafka", metadata: ["command": "\(command.id)", "error": "\(error)"])
          try await parts.clock.sleep(until: parts.clock.now.advanced(by: .seconds(1)))
        } catch let error as KafkaError where error.code != .closed {
          // A topic or partition that is not there is the operator's to mend; the lane goes on.
          try await conclude(command, .failed("\(error)"), [])
          break
        }
      }
    }
  }

  private nonisolated func carryOut(_ command: OperationCommand, from progress: Int64?) async throws {
    switch command.action {
    case .discard: try await conclude(command, .done, [])
    case .requeue:
      guard let position = command.deadLetterOffset else {
        return try await conclude(command, .failed("the item names no dead letter"), [])
      }
      guard case .found(let page, _) = try await read(parts.topics.deadLetters, position, limit: 1),
        let letter = page.first, letter.offset == position
      else {
        return try await conclude(command, .failed("the dead letter is gone: its topic's retention is over"), [])
      }
      guard letter.value != nil else {
        let why = "the letter holds no copy; replay \(Provenance(letter).first) instead"
        return try await conclude(command, .failed(why), [])
      }
      try await conclude(command, .done, [copy(of: letter, for: command, mode: .requeue)])
    case .replay(let topic, let from, let to, let isReapply):
      var next = max(from, progress ?? from)
      while next < to {
        switch try await read(topic, next, limit: Int(clamping: min(to - next, Self.replayPage))) {
        case .gone(let oldest):
          let why = "offsets \(next) to \(min(oldest, to) - 1) are gone, retention is over; the oldest is \(oldest)"
          return try await conclude(command, .failed(why), [])
        case .end: next = to
        case .found(let page, let end):
          next = end
          let copies = page.map { copy(of: $0, for: command, mode: isReapply ? .reapply : .plain) }
          if next < to {
            try await conclude(command, .progress(next: next), copies)
          } else {
            return try await conclude(command, .done, copies)
          }
        }
      }
      try await conclude(command, .done, [])
    }
  }

  private enum Page {
    /// What is left there of at most as many offsets as were asked for, and the offset behind them.
    case found([ConsumerRecord], next: Int64)
    /// It was there once; the oldest record that is.
    case gone(oldest: Int64)
    /// Nothing is there yet.
    case end
  }

  /// The records of this lane's partition at `limit` offsets. Offsets may be without one: aborted transactions leave
  /// gaps of any length.
  private nonisolated func read(_ topic: String, _ offset: Int64, limit: Int) async throws -> Page {
    let partition = TopicPartition(topic: topic, partition: epoch.lane)
    let range = try await parts.log.highWatermarks(of: [partition], timeout: .seconds(30))[partition]
    guard let range, offset < range.upperBound else { return .end }
    guard range.lowerBound <= offset else { return .gone(oldest: range.lowerBound) }
    let page = RecordPage()
    let end = min(range.upperBound, offset + Int64(limit))
    try await parts.log.scan(partition, from: .offset(offset), to: .offset(end), upTo: limit) { await page.append($0) }
    return .found(await page.records, next: end)
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
    if let large = records.first(where: \.isTooLarge) {
      return try await conclude(
        command, .failed("a record of \(large.bytes) bytes is too large to be sent again with its history"), [])
    }
    let result = OperationsRecord.result(
      OperationResult(
        command: command.id, item: command.item, worker: command.worker, outcome: outcome, at: parts.clock.wallTime))
    let note = ProducerRecord(
      topic: parts.topics.operations, partition: 0, key: result.key, value: result.json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
    let receipt = WriteReceipt()
    await submit(LaneWrite(lane: epoch, records: records + [note], isUrgent: true, receipt: receipt))
    guard await receipt.fate() != .dropped else { throw CancellationError() }
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
