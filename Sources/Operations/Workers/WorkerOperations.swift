// What operators ask of a worker: commands in `millrace.operations`, executed by the lanes' owners, and what became of
// them. Nothing here sends a record to the worker: two processes that both did would do it twice.

internal import AppStore
public import Clocks
public import Kafka
public import Millrace

/// Gives the lanes of one worker commands.
public struct WorkerOperations: Sendable {
  let log: any RecordLog
  let topics: WorkerTopics
  private let author: String
  private let clock: MillraceClock

  static let timeout = Duration.seconds(15)
  static let pageSize = 1_000

  /// The operations of a worker on a log.
  ///
  /// - Parameters:
  ///   - worker: Its name.
  ///   - prefix: Put before every topic's name.
  ///   - author: Who gives the commands; others read it when they come second.
  /// - Throws: ``OperationError`` for a name that no worker can have.
  public init(
    worker: String, prefix: String, on log: any RecordLog, author: String, clock: MillraceClock = .system
  ) throws(OperationError) {
    guard WorkerTopics.isName(worker) else {
      throw OperationError(
        .usage, "`\(worker)` is no name of a worker", at: "--worker",
        remedy: "use the name that the worker has under `workers` in the configuration")
    }
    self.log = log
    topics = WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix)
    self.author = author
    self.clock = clock
  }

  /// The operations of a worker of a deployment.
  /// - Throws: `KafkaError` where the cluster did not answer.
  public static func connect(
    worker: String, _ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, author: String
  ) async throws -> WorkerOperations {
    let cluster = try await kafka.describeCluster(timeout: timeout)
    return try WorkerOperations(
      worker: worker, prefix: configuration.topics.prefix, on: KafkaLog(kafka, cluster: cluster), author: author)
  }

  /// Asks for dead letters to be tried again.
  ///
  /// - Parameters:
  ///   - why: The operator's reason; it travels with the record.
  ///   - patience: How long the lanes' owners may be silent; a command that nobody answered stands all the same.
  ///   - report: Hears what becomes of each command.
  /// - Throws: ``OperationError`` for an id that names no dead letter, before anything is asked; `KafkaError`.
  public func requeue(
    _ ids: [DeadLetterID], why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    try await settle(.requeue, ids, why: why, patience: patience, report: report)
  }

  /// Asks for dead letters to be left for good.
  ///
  /// - Parameters, throws: as those of ``requeue(_:why:patience:report:)``.
  public func discard(
    _ ids: [DeadLetterID], why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    try await settle(.discard, ids, why: why, patience: patience, report: report)
  }

  private func settle(
    _ action: OperationCommand.Action, _ ids: [DeadLetterID], why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let lanes = try await lanes()
    var seen: Set<DeadLetterID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    let partitions = Set(ids.map(\.lane)).filter { $0 < lanes }.map {
      TopicPartition(topic: topics.deadLetters, partition: $0)
    }
    let ranges = try await ranges(of: partitions)
    for id in ids {
      let range = ranges[TopicPartition(topic: topics.deadLetters, partition: id.lane)] ?? 0..<0
      guard range.contains(id.offset) else {
        throw OperationError(
          .usage, "the worker \(topics.worker) has no such dead letter", at: "\(id)",
          remedy: "copy an id from millrace dead-letters list --worker \(topics.worker)")
      }
    }
    return try await submit(
      ids.map { id in
        command(
          action, item: OperationCommand.deadLetter(lane: id.lane, offset: id.offset), lane: id.lane, why: why)
      }, patience: patience, report: report)
  }

  /// Asks for records to be sent to the worker again.
  ///
  /// - Parameters: as those of ``requeue(_:why:patience:report:)``.
  /// - Throws: ``OperationError`` for records that are not there, before anything is asked; `KafkaError`.
  public func replay(
    _ request: ReplayRequest, patience: Duration, report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let lanes = try await lanes()
    let counts = try await log.partitionCounts(of: [request.topic], timeout: Self.timeout)
    let partition = TopicPartition(topic: request.topic, partition: request.partition)
    let range =
      !(0..<(counts[request.topic] ?? 0)).contains(Int(request.partition))
      ? 0..<0 : try await ranges(of: [partition])[partition] ?? 0..<0
    try request.check(partitions: counts[request.topic], lanes: lanes, holding: range)
    let action = OperationCommand.Action.replay(
      topic: request.topic, from: request.from, to: request.to, isReapply: request.reapply != nil)
    return try await submit(
      [command(action, item: nil, lane: request.partition, why: request.reapply ?? "")], patience: patience,
      report: report)
  }

  /// The number of lanes.
  /// - Throws: ``OperationError`` where the worker's topics are not there.
  func lanes() async throws -> Int {
    let names = [topics.deadLetters, topics.replay, topics.operations]
    let counts = try await log.partitionCounts(of: names, timeout: Self.timeout)
    for name in names where counts[name] == nil {
      throw OperationError(
        .failed, "no such topic in the cluster", at: name,
        remedy: "check --worker; a new worker's topics come with millrace topics apply once `workers` names it")
    }
    return counts[topics.replay] ?? 0
  }

  func ranges(of partitions: [TopicPartition]) async throws -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(of: partitions, timeout: Self.timeout)
  }

  var operations: TopicPartition { TopicPartition(topic: topics.operations, partition: 0) }

  private func command(
    _ action: OperationCommand.Action, item: String?, lane: Int32, why: String
  ) -> OperationCommand {
    let id = CommandID.new()
    return OperationCommand(
      id: id, item: item ?? id, worker: topics.worker, lane: lane, action: action, why: why, by: author,
      at: clock.wallTime)
  }

  /// Appends the commands for items that nobody has a command for, and follows the topic until all are answered.
  private func submit(
    _ commands: [OperationCommand], patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let follower = OperationsFollower(worker: topics.worker, commands, clock: clock, report: report)
    // What was said before: an item that has its command gets no second one.
    let end = try await log.scan(operations, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
      _ = try await follower.fold(page)
    }
    let free = try await follower.giveUpTaken()
    if !free.isEmpty {
      try await append(free)
      try await follow(follower, from: end, patience: patience)
    }
    return try await follower.conclude()
  }

  private func append(_ commands: [OperationCommand]) async throws {
    let records = commands.map { command in
      let record = OperationsRecord.command(command)
      return ProducerRecord(
        topic: topics.operations, partition: 0, key: record.key, value: record.json.serialized(),
        headers: [RecordHeader("content-type", "application/json")])
    }
    try await log.append(records)
  }

  private func follow(_ follower: OperationsFollower, from start: Int64, patience: Duration) async throws {
    struct Settled: Error {}
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [log, operations] in
        do {
          try await log.scan(operations, from: .offset(start), to: .never, upTo: Self.pageSize) { page in
            if try await follower.fold(page) { throw Settled() }
          }
        } catch is Settled {
          // All are answered.
        }
      }
      group.addTask { try await follower.waitForSilence(of: patience) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

/// Names for commands: UUIDs, version 4 (RFC 9562).
package enum CommandID {
  package static func new() -> String {
    var generator = SystemRandomNumberGenerator()
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
  }
}
