// Operators' commands as one worker sees them: follows `millrace.operations` and hands each lane what it has to do.

internal import AppStore
internal import Kafka
internal import Logging

/// The commands of one worker.
actor OperationsDesk {
  private let records: any RecordLog
  private let partition: TopicPartition
  private let metrics: WorkerMetrics
  private let logger: Logger
  private var operations: OperationsLog
  private var position: Int64 = 0
  private var listeners: [LaneEpoch: AsyncStream<OperationCommand>.Continuation] = [:]

  private static let pageSize = 1_000

  init(worker: String, topic: String, log: any RecordLog, metrics: WorkerMetrics, logger: Logger) {
    records = log
    // One partition: the order of commands is what decides who was first.
    partition = TopicPartition(topic: topic, partition: 0)
    operations = OperationsLog(worker: worker)
    self.metrics = metrics
    self.logger = logger
  }

  /// Follows the topic until cancelled.
  func follow() async throws {
    try await records.scan(partition, from: .earliest, to: .never, upTo: Self.pageSize) { page in
      await self.fold(page)
    }
  }

  /// What a lane has to execute, open commands first, then new ones as they come.
  ///
  /// A lane that starts reads to the topic's end first: what its last owner executed was written together with the
  /// result, and a command must not be executed twice because its result was not read yet.
  func commands(for lane: LaneEpoch) async throws -> AsyncStream<OperationCommand> {
    try await records.scan(partition, from: .offset(position), to: .highWatermark, upTo: Self.pageSize) { page in
      await self.fold(page)
    }
    let (stream, feed) = AsyncStream.makeStream(of: OperationCommand.self)
    for standing in operations.open(lane: lane.lane) { feed.yield(standing.command) }
    listeners[lane] = feed
    return stream
  }

  /// Whether a command is still open; asked right before it is executed.
  func isOpen(_ command: OperationCommand) -> Bool {
    operations.standing(of: command.item).map { $0.isOpen && $0.command.id == command.id } ?? false
  }

  /// How far a replay got.
  func progress(of command: OperationCommand) -> Int64? {
    guard case .progress(let next)? = operations.standing(of: command.item)?.outcome else { return nil }
    return next
  }

  /// The lane is gone.
  func forget(_ lane: LaneEpoch) { listeners.removeValue(forKey: lane)?.finish() }

  /// Folding a record twice changes nothing: a catch-up and the follower may both bring it.
  private func fold(_ page: [ConsumerRecord]) {
    for record in page {
      let isNew = record.offset >= position
      if isNew { position = record.offset + 1 }
      guard let value = record.value else { continue }
      do throws(UnreadableRecord) {
        let operation = try Self.operation(from: value)
        guard operations.fold(operation) == .accepted, case .command(let command) = operation else { continue }
        for (lane, feed) in listeners where lane.lane == command.lane { feed.yield(command) }
      } catch {
        if isNew { metrics.unreadable(record, because: error, logger) }
      }
    }
  }

  private static func operation(from value: [UInt8]) throws(UnreadableRecord) -> OperationsRecord {
    let json: JSON
    do { json = try JSON(parsing: value) } catch { throw UnreadableRecord("no JSON: \(error)") }
    guard let operation = OperationsRecord(json) else { throw UnreadableRecord("neither a command nor a result") }
    return operation
  }
}
