// A replay to a topic that is no worker's. The program that was asked for it carries it out; where it dies, another one
// goes on. With transactions the copies and the place are one write, and who takes over fences who went before. Without
// them the copies that the target has already are looked for first, and left out.

internal import AppStore
package import Clocks
package import Kafka

/// Carries out the parts of one run.
package struct TopicReplay: Sendable {
  private let log: any RecordLog
  private let prefix: String
  private let clock: MillraceClock
  private let source: String
  private let passOver: @Sendable (ConsumerRecord, UnreadableRecord) -> Void

  /// - Parameters:
  ///   - prefix: Put before every topic's name.
  ///   - source: How the audit trail names this program.
  ///   - passOver: Hears of records among the commands that are none.
  package init(
    on log: any RecordLog, prefix: String, source: String, clock: MillraceClock,
    passOver: @escaping @Sendable (ConsumerRecord, UnreadableRecord) -> Void
  ) {
    (self.log, self.prefix, self.source, self.clock) = (log, prefix, source, clock)
    self.passOver = passOver
  }

  /// Carries out what is left of a run, part by part, while hearing what operators say of it. Nothing where the run is
  /// over, or sent by a worker.
  /// - Throws: `KafkaError`; with code `fenced` or the like where another program has taken the run over.
  package func run(_ run: String) async throws {
    let operations = TopicPartition(topic: prefix + "millrace.operations", partition: 0)
    let writer = try ReplayWriter(of: run, prefix: prefix, on: log, clock: clock)
    // Before the log is read: whoever carried the run out until now writes nothing more, and leaves nothing open.
    try await writer.whileRunning {
      let state = RunState(run: run, passOver: passOver)
      let end = try await log.scan(operations, from: .earliest, to: .highWatermark, upTo: 1_000) {
        await state.fold($0)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await log.scan(operations, from: .offset(end), to: .never, upTo: 1_000) { await state.fold($0) }
        }
        group.addTask { try await carryOut(await state.parts, writer, state) }
        // The follower ends by failing only.
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
        writer: writer, part: part, target: target, prefix: prefix, source: source, clock: clock, state: state,
        earlier: earlier)
      let runner = ReplayRunner(
        log: log, partition: TopicPartition(topic: part.part.topic, partition: part.command.lane), part: part.part,
        clock: clock, bell: state.bell)
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

/// A part that is not finished.
private struct TopicReplayPart: Sendable {
  var command: OperationCommand
  var part: ReplayPart
  var place: ReplayPlace
}

/// One run as the log of operations tells it.
private actor RunState {
  nonisolated let bell = LaneBell()
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
        if operations.fold(operation) == .controlled { bell.ring() }
      } catch {
        passOver(record, error)
      }
    }
  }

  func word(rate: Int?) -> ReplayWord {
    switch operations.word(on: run) {
    case .pause?: .pause
    case .stop?: .stop
    case .resume?, nil: .go(rate: rate.map(Double.init))
    }
  }

  var parts: [TopicReplayPart] {
    operations.all.values.filter { $0.isOpen && $0.command.run == run }.compactMap { standing in
      guard case .replay(let part) = standing.command.action else { return nil }
      return TopicReplayPart(
        command: standing.command, part: part, place: standing.place ?? ReplayPlace(next: part.from, sent: 0))
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
  let state: RunState
  let earlier: Set<SentCopy>

  func word() async -> ReplayWord { await state.word(rate: part.part.rate) }

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

  /// Key and value as they are; which partition is the target's own question.
  private func copy(of record: ConsumerRecord, at first: RecordPosition) -> ProducerRecord {
    var headers = record.headers.filter { $0.name != SentCopy.sourceHeader && $0.name != Provenance.replayIDHeader }
    headers = NotificationOrigin.replay.marking(headers)
    headers.append(RecordHeader(Provenance.replayIDHeader, part.command.replayID))
    headers.append(RecordHeader(SentCopy.sourceHeader, "\(first.topic)/\(first.partition)/\(first.offset)"))
    return ProducerRecord(topic: target, key: record.key, value: record.value, headers: headers)
  }

  private func write(_ records: [ProducerRecord], _ outcome: OperationResult.Outcome, sent: Int64) async throws {
    let result = OperationResult(part.command, outcome, sent: sent, at: clock.wallTime)
    let note = OperationsRecord.result(result).producerRecord(prefix + "millrace.operations")
    // In this order: what is noted is there.
    try await writer.write(records, then: [note])
  }
}
