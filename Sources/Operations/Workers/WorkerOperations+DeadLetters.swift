// Reads a worker's dead letters and the operator's commands for them.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
public import MillraceRecords
internal import MillraceWorker
internal import Synchronization

extension WorkerOperations {
  /// The worker's dead letters, ordered by the time at which the worker gave up.
  ///
  /// - Parameters:
  ///   - selection: The dead letters to return. Times refer to the time at which the worker gave up.
  ///   - isOpenOnly: Omits dead letters that are settled or have a command.
  ///   - limit: The maximum number, the first by lane and offset; nil for all.
  /// - Throws: ``OperationError`` if the worker's topics do not exist; `KafkaError`.
  public func deadLetters(
    _ selection: RecordSelection = RecordSelection(), isOpenOnly: Bool = false, limit: Int? = nil
  ) async throws -> [DeadLetterEntry] {
    let found = Mutex<[DeadLetterEntry]>([])
    struct Enough: Error {}
    do {
      try await scan(selection) { record, status in
        guard !isOpenOnly || status.isFree, let entry = DeadLetterEntry(record, of: topics.worker, status: status)
        else {
          return
        }
        let count = found.withLock { entries in
          entries.append(entry)
          return entries.count
        }
        if let limit, count >= limit { throw Enough() }
      }
    } catch is Enough {
      // The limit is reached.
    }
    return found.withLock { $0 }
      .sorted { ($0.diedAt.millisecondsSince1970, $0.id) < ($1.diedAt.millisecondsSince1970, $1.id) }
  }

  /// The dead letters with one of these reasons.
  package func deadLetters(reasons: Set<String>, isOpenOnly: Bool = false) async throws -> [DeadLetterEntry] {
    var selection = RecordSelection()
    selection.reasons = reasons.sorted()
    return try await deadLetters(selection, isOpenOnly: isOpenOnly)
  }

  /// The worker's dead letters in groups, without keeping them in memory.
  /// - Throws: Like ``deadLetters(_:isOpenOnly:limit:)``.
  public func deadLetterGroups(
    _ selection: RecordSelection = RecordSelection(), isOpenOnly: Bool = false
  ) async throws -> DeadLetterGroups {
    let groups = Mutex(DeadLetterGroups())
    let now = clock.wallTime
    try await scan(selection) { record, status in
      guard !isOpenOnly || status.isFree, let letter = DeadLetter(record.headers) else { return }
      let source = record.headers.last { $0.name == "ce_source" }?.value ?? []
      // `appstore/<environment>/<bundleId>`.
      let app = source.split(separator: UInt8(ascii: "/"), maxSplits: 2).dropFirst(2).first
      groups.withLock {
        $0.add(
          DeadLetterGroups.Key(
            worker: topics.worker, reason: letter.reason, app: app.map { String(decoding: $0, as: UTF8.self) } ?? "",
            age: .init(now - letter.at)), isOpen: status.isFree, at: letter.at)
      }
    }
    return groups.withLock { $0 }
  }

  /// One dead letter and its record.
  /// - Throws: ``OperationError`` if there is no such dead letter.
  package func deadLetter(_ id: DeadLetterID) async throws -> (letter: DeadLetterEntry, record: RecordView) {
    guard let record = try await record(of: id),
      let letter = try await DeadLetterEntry(
        record, of: topics.worker, status: said().status(ofDeadLetter: id.lane, id.offset))
    else { throw missing(id) }
    return (letter, RecordView(record))
  }

  /// Passes every selected dead letter to `body`, lane by lane, with the status of its command.
  private func scan(
    _ selection: RecordSelection, _ body: @Sendable (ConsumerRecord, OperationsLog.Status?) throws -> Void
  ) async throws {
    let lanes = try await lanes()
    let said = try await said()
    // The selected topics are those where records were first read; `RecordMatcher` would compare the dead-letter topic.
    var here = selection
    here.topics = []
    let (matcher, topics) = (RecordMatcher(here), Set(selection.topics))
    let partitions = (0..<Int32(clamping: lanes)).filter {
      selection.partitions.isEmpty || selection.partitions.contains($0)
    }.map { TopicPartition(topic: self.topics.deadLetters, partition: $0) }
    for partition in partitions {
      try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
        for record in page where matcher.matches(record, at: DeadLetter.diedAt(record.headers)) {
          if !topics.isEmpty, !topics.contains(DeliveryHistory(record).first.topic) { continue }
          try body(record, said.status(ofDeadLetter: record.partition, record.offset))
        }
      }
    }
  }

  /// Reads the operators' commands to the worker.
  func said() async throws -> OperationsLog {
    let (log, passedOver) = try await log.fold(
      operations, upTo: Self.pageSize, into: (log: OperationsLog(worker: topics.worker), passedOver: PassedOver())
    ) { said, page in
      for record in page { if let operation = said.passedOver.read(record) { _ = said.log.fold(operation) } }
    }
    if let sentence = passedOver.sentence { note(sentence) }
    return log
  }
}

extension OperationsLog.Status? {
  /// Whether the next command for the item takes effect.
  var isFree: Bool { self?.isFree ?? true }
}

extension OperationsLog {
  /// The status of a dead letter. Builds no item name if there are no commands at all.
  func status(ofDeadLetter lane: Int32, _ offset: Int64) -> Status? {
    isEmpty ? nil : status(of: OperationCommand.deadLetter(lane: lane, offset: offset))
  }
}
