// What a worker gave up, and what was done about it.

internal import AppStore
internal import Kafka
internal import Millrace
internal import Synchronization

extension WorkerOperations {
  /// The worker's dead letters, those that died last at the end.
  ///
  /// - Parameters:
  ///   - reasons: only those with one of these codes; empty for all.
  ///   - isOpenOnly: only those that nobody has a command for.
  /// - Throws: ``OperationError`` where the worker's topics are not there; `KafkaError`.
  public func deadLetters(reasons: Set<String> = [], isOpenOnly: Bool = false) async throws -> [DeadLetterEntry] {
    let lanes = try await lanes()
    let found = Mutex<[DeadLetterEntry]>([])
    for lane in 0..<Int32(clamping: lanes) {
      let partition = TopicPartition(topic: topics.deadLetters, partition: lane)
      try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
        let entries = page.compactMap { DeadLetterEntry($0) }.filter { reasons.isEmpty || reasons.contains($0.reason) }
        found.withLock { $0 += entries }
      }
    }
    let said = Mutex(OperationsLog(worker: topics.worker))
    try await log.scan(operations, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
      let records = page.compactMap { record in
        record.value.flatMap { try? JSON(parsing: $0) }.flatMap { OperationsRecord($0) }
      }
      said.withLock { operations in for record in records { _ = operations.fold(record) } }
    }
    let operations = said.withLock { $0 }
    return found.withLock { $0 }.map { entry in
      var entry = entry
      let item = OperationCommand.deadLetter(lane: entry.id.lane, offset: entry.id.offset)
      if let standing = operations.standing(of: item) {
        (entry.state, entry.by) = (standing.words, standing.command.by)
      }
      return entry
    }
    .filter { !isOpenOnly || $0.state == "open" }
    .sorted { ($0.diedAt.millisecondsSince1970, $0.id) < ($1.diedAt.millisecondsSince1970, $1.id) }
  }
}
