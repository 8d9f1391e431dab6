// Executes operators' commands on the lane that owns their items. A command's changes and its result are one write.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Synchronization
internal import MillraceRecords

/// The operators' commands of one lane. Their changes are ordinary writes of the lane.
struct LaneCommands: Sendable {
  /// The maximum number of commands in one write.
  private static let commandsPerWrite = 200
  /// The maximum number of bytes of copies in one write.
  static let bytesPerWrite = 8 << 20
  /// Dead letters that are at least this many offsets apart are read by separate scans.
  private static let gap: Int64 = 2_000

  let lane: LaneRunner
  let consumer: CommandConsumer

  private var parts: LaneParts { lane.parts }
  private var epoch: LaneEpoch { lane.epoch }

  /// Executes commands until the lane ends. Dead letters do not wait for replays, nor one replay for another.
  func run() async throws {
    let (commands, earlier) = try await parts.readRetry.run(
      "cannot read the commands", metadata: ["lane": "\(epoch.lane)"]
    ) {
      (try await consumer.commands(for: epoch), try await copiesOfEarlierOwners())
    }
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
            for (command, part) in run { try await replay(command, part, leavingOut: earlier) }
          }
        }
        try await settle(letters, leavingOut: earlier)
      }
      runs.cancelAll()
    }
  }

  /// Returns the copies that an earlier owner of the lane may have sent without writing the result. That can only
  /// happen without transactions, and only if a command is still open.
  private func copiesOfEarlierOwners() async throws -> Set<SentCopy> {
    guard !parts.isTransactional, await consumer.hasOpenCommands(for: epoch) else { return [] }
    let replay = TopicPartition(topic: parts.topics.replay, partition: epoch.lane)
    return try await SentCopy.all(in: replay, from: .earliest, of: parts.log)
  }

  /// Repeats a request every second while Kafka is unavailable. `failed` handles every other Kafka error, except that
  /// of a closed client. That one, and errors that are not Kafka's, are thrown.
  /// - Parameter what: The first words of the log message, such as "a command is waiting".
  /// - Returns: Nil if the lane drains.
  @discardableResult
  func untilKafkaAnswers<Answer>(
    _ what: String, _ ask: () async throws -> Answer, failed: (KafkaError) async throws -> Answer
  ) async throws -> Answer? {
    while await !lane.isDraining {
      do {
        return try await ask()
      } catch let error as KafkaError where error.isRetriable {
        parts.logger.warning("\(what) for Kafka", metadata: ["lane": "\(epoch.lane)", "error": "\(error)"])
        try await parts.clock.sleep(until: parts.clock.now.advanced(by: .seconds(1)))
      } catch let error as KafkaError where error.code != .closed {
        // An operator has to fix this, for example if a topic is missing. The lane continues.
        return try await failed(error)
      }
    }
    return nil
  }

  // MARK: - Dead letters

  private func settle(
    _ commands: [OperationCommand], leavingOut earlier: Set<SentCopy>
  ) async throws {
    var rest = commands[...]
    while !rest.isEmpty, await !lane.isDraining {
      let batch = Array(rest.prefix(Self.commandsPerWrite))
      rest = rest.dropFirst(batch.count)
      // A command stays open until its result is read back, so keep track of the results written here.
      let settled = FinishedCommands()
      try await untilKafkaAnswers("a command is waiting") {
        try await settleBatch(batch.filter { !settled.contains($0) }, settled, leavingOut: earlier)
      } failed: { why in
        try await conclude(batch.filter { !settled.contains($0) }.map { CarriedOut($0, .failed("\(why)")) })
      }
    }
  }

  private func settleBatch(
    _ batch: [OperationCommand], _ settled: FinishedCommands, leavingOut earlier: Set<SentCopy>
  ) async throws {
    var steps: [CarriedOut] = []
    var erasures: [(OperationCommand, customer: String)] = []
    for command in batch where await consumer.isOpen(command) {
      switch command.action {
      case .discard: steps.append(CarriedOut(command, .done))
      case .erase(let customer): erasures.append((command, customer))
      case .requeue, .replay: break
      }
    }
    steps += try await erase(erasures)
    var wanted: [Int64: OperationCommand] = [:]
    // An erasure has ended the commands to retry its customer's dead letters.
    for command in batch where command.action == .requeue {
      guard await consumer.isOpen(command) else { continue }
      guard let offset = command.deadLetterOffset else {
        steps.append(CarriedOut(command, .failed("the item names no dead letter")))
        continue
      }
      wanted[offset] = command
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
          let step = try await requeue(letter, for: command, leavingOut: earlier)
          steps.append(step)
          bytes += step.records.reduce(0) { $0 + $1.bytes }
          // A hundred records of the maximum size would take too much memory.
          guard bytes >= Self.bytesPerWrite else { continue }
          try await conclude(steps)
          settled.add(steps)
          (steps, bytes) = ([], 0)
        }
        try await conclude(steps)
        settled.add(steps)
      }
    }
    let gone = wanted.values.filter { !settled.contains($0) }
    try await conclude(
      gone.map { CarriedOut($0, .failed("the dead letter is gone: retention has deleted it")) })
  }

  private func requeue(
    _ letter: ConsumerRecord, for command: OperationCommand, leavingOut earlier: Set<SentCopy>
  ) async throws -> CarriedOut {
    if let dead = NamedTimer(letter) {
      guard await lane.timer(dead.name) == nil else {
        return CarriedOut(command, .failed("the timer \(dead.name) has been set again since then"))
      }
      return CarriedOut(command, .done, timer: dead)
    }
    let history = DeliveryHistory(letter)
    let found: ConsumerRecord?
    do {
      found = try await whole(letter)
    } catch let error as KafkaError where !error.isRetriable && error.code != .closed {
      return CarriedOut(command, .failed("the dead letter has no copy, and \(history.first) cannot be read: \(error)"))
    }
    guard let whole = found else {
      return CarriedOut(command, .failed("the dead letter has no copy, and \(history.first) is deleted or empty"))
    }
    let copy = copy(of: whole, for: command, mode: history.reapplies ? .requeueReapply : .requeue)
    if copy.isTooLarge {
      return CarriedOut(command, .failed("a record of \(copy.bytes) bytes is too large to be sent again"))
    }
    #if PLANTED_FAULTS
      if PlantedFault.requeuedRecordLost.isActive { return CarriedOut(command, .done) }
    #endif
    let isSent = earlier.contains(SentCopy(run: command.replayID, first: history.first))
    return CarriedOut(command, .done, records: isSent ? [] : [copy])
  }

  /// Returns a dead letter with its record. A record that was too large to copy is read from its first position; if it
  /// is no longer there, the result is nil.
  private func whole(_ letter: ConsumerRecord) async throws -> ConsumerRecord? {
    guard letter.value == nil else { return letter }
    let first = DeliveryHistory(letter).first
    let partition = TopicPartition(topic: first.topic, partition: first.partition)
    let held = try await parts.log.highWatermarks(of: [partition], timeout: .seconds(30))[partition] ?? 0..<0
    guard held.contains(first.offset) else { return nil }
    guard let record = try await parts.log.record(at: first.offset, of: partition), record.value != nil else {
      return nil
    }
    return ConsumerRecord(
      topic: letter.topic, partition: letter.partition, offset: letter.offset, timestamp: letter.timestamp,
      key: record.key, value: record.value, headers: DeliveryHistory.original(record.headers) + letter.headers)
  }

  /// Returns ranges of the lane's dead letters that contain these offsets, without deleted records.
  private func spans(of offsets: [Int64]) async throws -> [Range<Int64>] {
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

  /// Returns the delivery history of a record to send again. History headers in a notification topic are not trusted.
  func history(of record: ConsumerRecord) -> DeliveryHistory {
    DeliveryHistory(record, hasHistory: parts.topics.isOwn(record.topic), clock: parts.clock)
  }

  func copy(
    of record: ConsumerRecord, for command: OperationCommand, mode: DeliveryHistory.ReplayMode
  ) -> ProducerRecord {
    var history = history(of: record)
    history.replay = DeliveryHistory.Replay(id: command.replayID, mode: mode, why: command.why)
    // The causes keep the history of attempts. The count restarts, or a requeued record would be given up at once.
    history.attempt = 0
    // The dead letter's reason is in its headers. If the record fails again, that reason becomes one of the causes.
    if mode.isRequeue, let letter = DeadLetter(record.headers) {
      history.causes.append("\(letter.at.rfc3339) \(letter.reason): \(letter.detail.prefix(300))")
    }
    history.due = nil
    history.delayedAt = nil
    while true {
      var copy = parts.planner.records.delayed(record, on: parts.topics.replay, history: history)
      copy.headers = NotificationOrigin.replay.marking(copy.headers)
      // Rather drop the oldest causes than the record. The dead letters still contain them.
      guard copy.isTooLarge, !history.causes.isEmpty else { return copy }
      history.causes.removeFirst()
    }
  }

  /// Writes the records of each step together with its result, and waits until all of them are in Kafka.
  func conclude(_ steps: [CarriedOut]) async throws {
    var rest = steps[...]
    while !rest.isEmpty {
      var bytes = 0
      let fitting = rest.prefix { step in
        bytes += step.records.reduce(0) { $0 + $1.bytes }
        return bytes <= Self.bytesPerWrite
      }
      let batch = Array(rest.prefix(max(1, fitting.count)))
      rest = rest.dropFirst(batch.count)
      let records = batch.flatMap { step in
        let result = OperationResult(step.command, step.outcome, sent: step.sent, at: parts.clock.wallTime)
        return step.records + [OperationsRecord.result(result).producerRecord(parts.topics.operations)] + step.notes
      }
      guard await lane.write(records, settingAgain: batch.compactMap(\.timer)) != .dropped else {
        throw CancellationError()
      }
    }
  }
}

/// The result of one step of a command.
struct CarriedOut: Sendable {
  var command: OperationCommand
  var outcome: OperationResult.Outcome
  /// The number of records that the replay has sent, including these.
  var sent: Int64 = 0
  /// The copies to send.
  var records: [ProducerRecord]
  /// Other records to write together with the copies.
  var notes: [ProducerRecord] = []
  /// A timer to set again.
  var timer: NamedTimer?

  init(
    _ command: OperationCommand, _ outcome: OperationResult.Outcome, sent: Int64 = 0, records: [ProducerRecord] = [],
    timer: NamedTimer? = nil
  ) {
    (self.command, self.outcome, self.sent, self.records, self.timer) = (command, outcome, sent, records, timer)
  }
}

/// The commands whose results were written.
private final class FinishedCommands: Sendable {
  private let ids = Mutex<Set<String>>([])

  func add(_ steps: [CarriedOut]) { ids.withLock { $0.formUnion(steps.map(\.command.id)) } }
  func contains(_ command: OperationCommand) -> Bool { ids.withLock { $0.contains(command.id) } }
}

extension OperationCommand {
  /// The offset of the dead letter that the item names, or nil for other items.
  var deadLetterOffset: Int64? {
    let parts = item.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "dead-letters", Int32(parts[1]) == lane else { return nil }
    return Int64(parts[2])
  }

  /// The `ce_replayid` of the records that the command sends again.
  package var replayID: String { run ?? id }
}
