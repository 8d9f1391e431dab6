// Operators' commands, carried out by the lane that owns their items: what a command does and its result are one write.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging
internal import Synchronization

extension LaneRunner {
  /// Most commands, and most bytes of copies, in one write.
  static var commandsPerWrite: Int { 200 }
  static var bytesPerWrite: Int { 8 << 20 }
  /// Dead letters so far apart are read by two scans rather than one.
  private static var gap: Int64 { 2_000 }

  /// Carries out commands until the lane ends. Dead letters do not wait for replays, nor one run for another.
  nonisolated func obey(_ desk: OperationsDesk) async throws {
    guard
      let (commands, earlier) = try await untilKafkaAnswers(
        "reading commands waits",
        {
          (try await desk.commands(for: self.epoch), try await self.copiesOfEarlierOwners(desk))
        }, failed: { throw $0 })
    else { return }
    try await withThrowingDiscardingTaskGroup { runs in
      for await new in commands {
        try Task.checkCancellation()
        var parts: [String: [(OperationCommand, ReplayPart)]] = [:]
        var letters: [OperationCommand] = []
        for command in new {
          if case .replay(let part) = command.action {
            parts[command.run ?? command.id, default: []].append((command, part))
          } else {
            letters.append(command)
          }
        }
        for run in parts.values {
          runs.addTask {
            for (command, part) in run { try await self.replay(command, part, desk, leavingOut: earlier) }
          }
        }
        try await settle(letters, desk, leavingOut: earlier)
      }
      runs.cancelAll()
    }
  }

  /// What an earlier owner of the lane sent again and could not tell: without transactions a copy may be in Kafka and its
  /// result not. With them there is nothing to look for, nor where every command has its result.
  private nonisolated func copiesOfEarlierOwners(_ desk: OperationsDesk) async throws -> Set<SentCopy> {
    guard !parts.isTransactional, await desk.hasOpenCommands(for: epoch) else { return [] }
    let replay = TopicPartition(topic: parts.topics.replay, partition: epoch.lane)
    return try await SentCopy.all(in: replay, from: .earliest, of: parts.log)
  }

  /// Asks again every second while Kafka is away. Another error of Kafka's is `failed`'s to tell, unless the client is
  /// closed; that, and what is none of Kafka's, is thrown.
  /// - Parameter what: What waits, for the log.
  /// - Returns: nil once the lane drains.
  @discardableResult
  nonisolated func untilKafkaAnswers<Answer>(
    _ what: String, _ ask: () async throws -> Answer, failed: (KafkaError) async throws -> Answer
  ) async throws -> Answer? {
    while await !isDraining {
      do {
        return try await ask()
      } catch let error as KafkaError where error.isRetriable {
        parts.logger.warning("\(what) for Kafka", metadata: ["lane": "\(epoch.lane)", "error": "\(error)"])
        try await parts.clock.sleep(until: parts.clock.now.advanced(by: .seconds(1)))
      } catch let error as KafkaError where error.code != .closed {
        // A topic or partition that is not there is the operator's to mend; the lane goes on.
        return try await failed(error)
      }
    }
    return nil
  }

  // MARK: - Dead letters

  private nonisolated func settle(
    _ commands: [OperationCommand], _ desk: OperationsDesk, leavingOut earlier: Set<SentCopy>
  ) async throws {
    var rest = commands[...]
    while !rest.isEmpty, await !isDraining {
      let batch = Array(rest.prefix(Self.commandsPerWrite))
      rest = rest.dropFirst(batch.count)
      // What is written and not read back yet is open to the desk still.
      let settled = Settled()
      try await untilKafkaAnswers("a command waits") {
        try await self.settleBatch(batch.filter { !settled.contains($0) }, desk, settled, leavingOut: earlier)
      } failed: { why in
        try await self.conclude(batch.filter { !settled.contains($0) }.map { CarriedOut($0, .failed("\(why)")) })
      }
    }
  }

  private nonisolated func settleBatch(
    _ batch: [OperationCommand], _ desk: OperationsDesk, _ settled: Settled, leavingOut earlier: Set<SentCopy>
  ) async throws {
    var steps: [CarriedOut] = []
    var wanted: [Int64: OperationCommand] = [:]
    for command in batch where await desk.isOpen(command) {
      switch (command.action, command.deadLetterOffset) {
      case (.discard, _): steps.append(CarriedOut(command, .done))
      case (_, let offset?): wanted[offset] = command
      case (_, nil): steps.append(CarriedOut(command, .failed("the item names no dead letter")))
      }
    }
    try await conclude(steps)
    settled.add(steps)
    for span in try await spans(of: wanted.keys.sorted()) {
      let topic = TopicPartition(topic: parts.topics.deadLetters, partition: epoch.lane)
      let asked = wanted
      try await parts.log.scan(topic, from: .offset(span.lowerBound), to: .offset(span.upperBound), upTo: 100) { page in
        let letters = page.compactMap { letter in asked[letter.offset].map { (letter, $0) } }
        var steps: [CarriedOut] = []
        var bytes = 0
        for (letter, command) in letters {
          let step = try await self.requeue(letter, for: command, leavingOut: earlier)
          steps.append(step)
          bytes += step.records.reduce(0) { $0 + $1.bytes }
          // A hundred records of the largest kind are more than is held in memory.
          guard bytes >= Self.bytesPerWrite else { continue }
          try await self.conclude(steps)
          settled.add(steps)
          (steps, bytes) = ([], 0)
        }
        try await self.conclude(steps)
        settled.add(steps)
      }
    }
    let gone = wanted.values.filter { !settled.contains($0) }
    try await conclude(
      gone.map { CarriedOut($0, .failed("the dead letter is gone: its topic's retention is over")) })
  }

  private nonisolated func requeue(
    _ letter: ConsumerRecord, for command: OperationCommand, leavingOut earlier: Set<SentCopy>
  ) async throws -> CarriedOut {
    if let dead = DeadTimer(letter) {
      guard await ledger.timer(dead.name) == nil else {
        return CarriedOut(command, .failed("the timer \(dead.name) was set again since"))
      }
      return CarriedOut(command, .done, timer: dead)
    }
    let history = Provenance(letter)
    let found: ConsumerRecord?
    do {
      found = try await whole(letter)
    } catch let error as KafkaError where !error.isRetriable && error.code != .closed {
      return CarriedOut(command, .failed("the letter holds no copy, and \(history.first) cannot be read: \(error)"))
    }
    guard let whole = found else {
      return CarriedOut(command, .failed("the letter holds no copy, and \(history.first) is gone or was empty"))
    }
    let copy = copy(of: whole, for: command, mode: history.reapplies ? .requeueReapply : .requeue)
    if copy.isTooLarge {
      return CarriedOut(command, .failed("a record of \(copy.bytes) bytes is too large to be sent again"))
    }
    let isSent = earlier.contains(SentCopy(run: command.replayID, first: history.first))
    return CarriedOut(command, .done, records: isSent ? [] : [copy])
  }

  /// A letter with its record: what was too large to be copied is read where it first stood. Nil where that is over.
  private nonisolated func whole(_ letter: ConsumerRecord) async throws -> ConsumerRecord? {
    guard letter.value == nil else { return letter }
    let first = Provenance(letter).first
    let partition = TopicPartition(topic: first.topic, partition: first.partition)
    let held = try await parts.log.highWatermarks(of: [partition], timeout: .seconds(30))[partition] ?? 0..<0
    guard held.contains(first.offset) else { return nil }
    let found = Mutex<ConsumerRecord?>(nil)
    try await parts.log.scan(partition, from: .offset(first.offset), to: .offset(first.offset + 1), upTo: 1) { page in
      guard let record = page.first, record.offset == first.offset, record.value != nil else { return }
      found.withLock { $0 = record }
    }
    return found.withLock { $0 }.map { record in
      ConsumerRecord(
        topic: letter.topic, partition: letter.partition, offset: letter.offset, timestamp: letter.timestamp,
        key: record.key, value: record.value, headers: Provenance.original(record.headers) + letter.headers)
    }
  }

  /// Ranges of the lane's dead letters that hold these offsets and are still there.
  private nonisolated func spans(of offsets: [Int64]) async throws -> [Range<Int64>] {
    guard !offsets.isEmpty else { return [] }
    let partition = TopicPartition(topic: parts.topics.deadLetters, partition: epoch.lane)
    let held = try await parts.log.highWatermarks(of: [partition], timeout: .seconds(30))[partition] ?? 0..<0
    var spans: [Range<Int64>] = []
    for offset in offsets where held.contains(offset) {
      if let last = spans.last, offset - last.upperBound < Self.gap {
        spans[spans.count - 1] = last.lowerBound..<offset + 1
      } else {
        spans.append(offset..<offset + 1)
      }
    }
    return spans
  }

  // MARK: - Writing

  nonisolated func copy(
    of record: ConsumerRecord, for command: OperationCommand, mode: Provenance.ReplayMode
  ) -> ProducerRecord {
    var history = Provenance(record)
    history.replay = Provenance.Replay(id: command.replayID, mode: mode, why: command.why)
    // The history of attempts stays in the causes; the count begins anew, or a requeue would die at once.
    history.attempt = 0
    // What it died of is in headers of the letter; where it dies again, it is one of the causes.
    if mode.isRequeue, let letter = DeadLetter(record.headers) {
      history.causes.append("\(letter.at.rfc3339) \(letter.reason): \(letter.detail.prefix(300))")
    }
    history.due = nil
    history.parkedAt = nil
    while true {
      var copy = parts.planner.records.parked(record, on: parts.topics.replay, history: history)
      copy.headers = NotificationOrigin.replay.marking(copy.headers)
      // Better sent without its oldest causes than not at all: the letters keep them.
      guard copy.isTooLarge, !history.causes.isEmpty else { return copy }
      history.causes.removeFirst()
    }
  }

  /// Writes what steps do together with their results, and waits until all of it is in Kafka.
  nonisolated func conclude(_ steps: [CarriedOut]) async throws {
    var rest = steps[...]
    while !rest.isEmpty {
      var bytes = 0
      let fitting = rest.prefix { step in
        bytes += step.records.reduce(0) { $0 + $1.bytes }
        return bytes <= Self.bytesPerWrite
      }
      let batch = Array(rest.prefix(max(1, fitting.count)))
      rest = rest.dropFirst(batch.count)
      let receipt = WriteReceipt()
      let records = batch.flatMap { step in
        let result = OperationResult(step.command, step.outcome, sent: step.sent, at: parts.clock.wallTime)
        return step.records + [OperationsRecord.result(result).producerRecord(parts.topics.operations)] + step.notes
      }
      await submit(
        LaneWrite(lane: epoch, records: records, isUrgent: true, receipt: receipt),
        settingAgain: batch.compactMap(\.timer))
      guard await receipt.fate() != .dropped else { throw CancellationError() }
    }
  }
}

extension LaneRunner {
  /// Hands a write over that sets dead timers again. They are due at once, most likely.
  private func submit(_ write: LaneWrite, settingAgain timers: [DeadTimer]) {
    var write = write
    for dead in timers {
      let again = Outcome.Timer(name: dead.name, at: dead.timer.at, payload: dead.timer.payload)
      write.entries += timerEntries([again], key: dead.timer.key)
    }
    stage(write)
    submit(write)
  }
}

/// What a step of a command did.
struct CarriedOut: Sendable {
  var command: OperationCommand
  var outcome: OperationResult.Outcome
  /// How many records a replay has sent, these included.
  var sent: Int64 = 0
  /// The copies.
  var records: [ProducerRecord]
  /// What else is to be written with them.
  var notes: [ProducerRecord] = []
  /// A timer that is set again.
  var timer: DeadTimer?

  init(
    _ command: OperationCommand, _ outcome: OperationResult.Outcome, sent: Int64 = 0, records: [ProducerRecord] = [],
    timer: DeadTimer? = nil
  ) {
    (self.command, self.outcome, self.sent, self.records, self.timer) = (command, outcome, sent, records, timer)
  }
}

/// Commands that have their results.
private final class Settled: Sendable {
  private let ids = Mutex<Set<String>>([])

  func add(_ steps: [CarriedOut]) { ids.withLock { $0.formUnion(steps.map(\.command.id)) } }
  func contains(_ command: OperationCommand) -> Bool { ids.withLock { $0.contains(command.id) } }
}

extension OperationCommand {
  /// The offset of the dead letter that the item names; nil for other items.
  var deadLetterOffset: Int64? {
    let parts = item.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "dead-letters", Int32(parts[1]) == lane else { return nil }
    return Int64(parts[2])
  }

  /// `ce_replayid` of what is sent again because of it.
  package var replayID: String { run ?? id }
}
