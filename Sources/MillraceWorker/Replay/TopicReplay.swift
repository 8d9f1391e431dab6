// Replays records to a topic that belongs to no worker. The program that starts the replay executes it; if it dies,
// another program can continue. With transactions, copies and progress are one write, and the next program fences the
// previous one. Without them, the program first looks for copies that the target already has, and leaves them out.

internal import AppStore
package import MillraceTime
package import KafkaClient
package import MillraceRecords

/// Executes the parts of one run.
package struct TopicReplay: Sendable {
  private let log: any RecordLog
  private let prefix: String
  private let clock: MillraceClock
  private let recordClock: MillraceClock
  private let source: String
  private let passOver: @Sendable (ConsumerRecord, UnreadableRecord) -> Void

  /// - Parameters:
  ///   - prefix: The prefix of topic names.
  ///   - source: The name of this program in the audit trail.
  ///   - clock: Paces the copies.
  ///   - recordClock: Determines when records were written, and the time of the copies.
  ///   - passOver: Called with each record among the commands that cannot be read.
  package init(
    on log: any RecordLog, prefix: String, source: String, clock: MillraceClock,
    recordClock: MillraceClock, passOver: @escaping @Sendable (ConsumerRecord, UnreadableRecord) -> Void
  ) {
    (self.log, self.prefix, self.source) = (log, prefix, source)
    (self.clock, self.recordClock) = (clock, recordClock)
    self.passOver = passOver
  }

  /// Executes the unfinished parts of a run one after another, and follows operators' commands meanwhile. Does nothing
  /// if the run is over or belongs to a worker.
  /// - Throws: `KafkaError`. If another program has taken over the run, its code is `fenced` or similar.
  package func run(_ run: String) async throws {
    let operations = TopicPartition(topic: prefix + "millrace.operations", partition: 0)
    // Fence the previous program before the log is read. It then writes nothing more and leaves no transaction open.
    try await ReplayWriter.use(for: run, prefix: prefix, on: log, clock: clock) { writer in
      let state = RunState(run: run, passOver: passOver)
      let end = try await log.scan(operations, from: .earliest, to: .highWatermark, upTo: 1_000) {
        await state.fold($0)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await log.scan(operations, from: .offset(end), to: .never, upTo: 1_000) { await state.fold($0) }
        }
        group.addTask { try await carryOut(await state.parts, writer, state) }
        // The follower ends only with an error.
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }

  private func carryOut(
    _ parts: [TopicReplayPart], _ writer: ReplayWriter, _ state: RunState
  ) async throws {
    guard let first = parts.first, let target = first.part.target else { return }
    let earlier = writer.isTransactional ? [] : try await copies(in: target, run: first.command.replayID)
    for part in parts {
      let host = TopicReplayHost(
        writer: writer, part: part, target: target, prefix: prefix, source: source, clock: clock,
        recordClock: recordClock, state: state, earlier: earlier)
      let runner = ReplayRunner(
        log: log, partition: TopicPartition(topic: part.part.topic, partition: part.command.lane), part: part.part,
        clock: clock, recordClock: recordClock, wakeUp: state.wakeUp)
      try await runner.run(from: part.place, on: host)
    }
  }

  private func copies(in target: String, run: String) async throws -> Set<SentCopy> {
    let count = try await log.partitionCounts(of: [target], timeout: .seconds(30))[target] ?? 0
    var copies: Set<SentCopy> = []
    for partition in 0..<Int32(clamping: count) {
      copies.formUnion(
        try await SentCopy.all(
          in: TopicPartition(topic: target, partition: partition), from: .earliest, of: log, run: run))
    }
    return copies
  }
}

/// An unfinished part.
private struct TopicReplayPart: Sendable {
  var command: OperationCommand
  var part: ReplayPart
  var place: ReplayPlace
}

/// The state of a run, as read from the operations topic.
private actor RunState {
  nonisolated let wakeUp = AsyncSignal()
  private let run: String
  private var operations = OperationsLog(worker: OperationCommand.noWorker)

  private let passOver: @Sendable (ConsumerRecord, UnreadableRecord) -> Void

  init(run: String, passOver: @escaping @Sendable (ConsumerRecord, UnreadableRecord) -> Void) {
    (self.run, self.passOver) = (run, passOver)
  }

  func fold(_ page: [ConsumerRecord]) {
    for record in page {
      do throws(UnreadableRecord) {
        guard let operation = try OperationsRecord.read(record) else { continue }
        if operations.fold(operation) == .controlled { wakeUp.signal() }
      } catch {
        passOver(record, error)
      }
    }
  }

  func control(rate: Int?) -> ReplayControl {
    switch operations.control(on: run) {
    case .pause?: .pause
    case .stop?: .stop
    case .resume?, nil: .go(rate: rate.map(Double.init))
    }
  }

  var parts: [TopicReplayPart] {
    operations.all.values.filter { $0.isOpen && $0.command.run == run }.compactMap { status in
      guard case .replay(let part) = status.command.action else { return nil }
      return TopicReplayPart(
        command: status.command, part: part, place: status.place ?? ReplayPlace(next: part.from, sent: 0))
    }.sorted { ($0.part.topic, $0.command.lane) < ($1.part.topic, $1.command.lane) }
  }
}

private struct TopicReplayHost: ReplayHost {
  let writer: ReplayWriter
  let part: TopicReplayPart
  let target: String
  let prefix: String
  let source: String
  let clock: MillraceClock
  let recordClock: MillraceClock
  let state: RunState
  let earlier: Set<SentCopy>

  func control() async -> ReplayControl { await state.control(rate: part.part.rate) }

  func send(_ records: [ConsumerRecord], behind place: ReplayPlace) async throws {
    let run = part.command.replayID
    let copies = records.compactMap { record -> ProducerRecord? in
      let first = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
      return earlier.contains(SentCopy(run: run, first: first)) ? nil : copy(of: record, at: first)
    }
    try await write(copies, .progress(next: place.next), sent: place.sent)
  }

  func end(_ outcome: OperationResult.Outcome, sent: Int64) async throws {
    let record = part.command.auditEnd(part.part, outcome, sent: sent, source: source, at: clock.wallTime)
    try await write(record.map { [$0.producerRecord(prefix: prefix)] } ?? [], outcome, sent: sent)
  }

  /// Copies a record with its key and value. The partitioner chooses the partition in the target.
  private func copy(of record: ConsumerRecord, at first: RecordPosition) -> ProducerRecord {
    var headers = record.headers.filter {
      $0.name != DeliveryHistory.sourceHeader && $0.name != DeliveryHistory.replayIDHeader
    }
    headers = NotificationOrigin.replay.marking(headers)
    headers.append(RecordHeader(DeliveryHistory.replayIDHeader, part.command.replayID))
    headers.append(RecordHeader(DeliveryHistory.sourceHeader, "\(first.topic)/\(first.partition)/\(first.offset)"))
    return ProducerRecord(topic: target, key: record.key, value: record.value, headers: headers).timed(by: recordClock)
  }

  private func write(_ records: [ProducerRecord], _ outcome: OperationResult.Outcome, sent: Int64) async throws {
    let result = OperationResult(part.command, outcome, sent: sent, at: clock.wallTime)
    let note = OperationsRecord.result(result).producerRecord(prefix + "millrace.operations")
    // In this order, so that progress is written only for copies that exist.
    try await writer.write(records, then: [note])
  }
}
