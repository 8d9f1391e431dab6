// Operators' commands as one worker sees them: follows `millrace.operations` and hands each lane what it has to do.

internal import AppStore
internal import Kafka
internal import Logging
internal import Synchronization

/// The commands of one worker.
actor OperationsDesk {
  private let records: any RecordLog
  private let partition: TopicPartition
  private let metrics: WorkerMetrics
  private let logger: Logger
  private var operations: OperationsLog
  private var position: Int64 = 0
  private var listeners: [LaneEpoch: AsyncStream<[OperationCommand]>.Continuation] = [:]
  // Rung when a run is to wait, go on or end.
  private let bells = Mutex<[ObjectIdentifier: LaneBell]>([:])

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

  /// What a lane has to execute, open commands first, then new ones as they come, those that came together together.
  ///
  /// A lane that starts reads to the topic's end first: what its last owner executed was written together with the
  /// result, and a command must not be executed twice because its result was not read yet.
  func commands(for lane: LaneEpoch) async throws -> AsyncStream<[OperationCommand]> {
    try await records.scan(partition, from: .offset(position), to: .highWatermark, upTo: Self.pageSize) { page in
      await self.fold(page)
    }
    let (stream, feed) = AsyncStream.makeStream(of: [OperationCommand].self)
    feed.yield(operations.open(lane: lane.lane).map(\.command))
    listeners[lane] = feed
    return stream
  }

  /// Whether a lane that starts has something to execute that its last owner may have begun.
  func hasOpenCommands(for lane: LaneEpoch) -> Bool { !operations.open(lane: lane.lane).isEmpty }

  /// Whether a command is still open; asked right before it is executed.
  func isOpen(_ command: OperationCommand) -> Bool {
    operations.standing(of: command.item).map { $0.isOpen && $0.command.id == command.id } ?? false
  }

  /// How far a replay got; nil: nothing was noted yet.
  func place(of command: OperationCommand) -> ReplayPlace? { operations.standing(of: command.item)?.place }

  /// Whether a part of a run goes on. The run's rate is divided among the parts that are not finished.
  func word(on command: OperationCommand, rate: Int?) -> ReplayWord {
    guard isOpen(command) else { return .over }
    switch command.run.flatMap({ operations.word(on: $0) }) {
    case .pause?: return .pause
    case .stop?: return .stop
    case .resume?, nil:
      let parts = max(1, command.run.map { operations.openParts(of: $0) } ?? 1)
      return .go(rate: rate.map { Double($0) / Double(parts) })
    }
  }

  /// Rings this bell whenever a run is to wait, go on or end.
  nonisolated func attach(_ bell: LaneBell) { bells.withLock { $0[ObjectIdentifier(bell)] = bell } }

  /// Rings it no more.
  nonisolated func detach(_ bell: LaneBell) { bells.withLock { $0[ObjectIdentifier(bell)] = nil } }

  /// The lane is gone.
  func forget(_ lane: LaneEpoch) { listeners.removeValue(forKey: lane)?.finish() }

  /// Takes in what is new of a page. The follower and every lane that starts read the same records, each at its own pace,
  /// and an older word read late must not undo a newer one. Whoever reads begins at ``position`` or before it and leaves
  /// nothing out: what is new in a page is what comes next.
  func fold(_ page: [ConsumerRecord]) {
    var accepted: [OperationCommand] = []
    var isControlled = false
    for record in page where record.offset >= position {
      position = record.offset + 1
      do throws(UnreadableRecord) {
        guard let operation = try OperationsRecord.read(record) else { continue }
        switch (operations.fold(operation), operation) {
        case (.accepted, .command(let command)): accepted.append(command)
        case (.controlled, _): isControlled = true
        default: break
        }
      } catch {
        metrics.unreadable(record, because: error, logger)
      }
    }
    for (lane, feed) in listeners {
      let own = accepted.filter { $0.lane == lane.lane }
      if !own.isEmpty { feed.yield(own) }
    }
    if isControlled { for bell in bells.withLock({ Array($0.values) }) { bell.ring() } }
  }
}
