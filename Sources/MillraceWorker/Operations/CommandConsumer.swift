// Reads operators' commands for one worker: follows `millrace.operations` and passes each lane its commands.

internal import AppStore
internal import KafkaClient
internal import Logging
internal import Synchronization
internal import MillraceRecords

/// The commands of one worker.
actor CommandConsumer {
  private let records: any RecordLog
  private let partition: TopicPartition
  private let metrics: WorkerMetrics
  private let logger: Logger
  private var operations: OperationsLog
  private var position: Int64 = 0
  private var listeners: [LaneEpoch: AsyncStream<[OperationCommand]>.Continuation] = [:]
  // Signalled when an operator pauses, resumes or stops a run.
  private let wakeUps = Mutex<[ObjectIdentifier: AsyncSignal]>([:])

  private static let pageSize = 1_000

  init(worker: String, topic: String, log: any RecordLog, metrics: WorkerMetrics, logger: Logger) {
    records = log
    // The topic has one partition, because the order of commands decides which one came first.
    partition = TopicPartition(topic: topic, partition: 0)
    operations = OperationsLog(worker: worker, keepsFinished: false)
    self.metrics = metrics
    self.logger = logger
  }

  /// Follows the topic until cancelled, from ``position`` on.
  func follow() async throws {
    let start: StartOffset = position > 0 ? .offset(position) : .earliest
    try await records.scan(partition, from: start, to: .never, upTo: Self.pageSize) { page in
      await self.fold(page)
    }
  }

  /// Returns a lane's commands in batches: first those that are open, then new ones as they are read.
  ///
  /// First reads the topic to its end. The lane's last owner wrote each result together with the changes of the
  /// command, and a command must not run twice because its result was not read yet.
  func commands(for lane: LaneEpoch) async throws -> AsyncStream<[OperationCommand]> {
    try await readToEnd()
    let (stream, feed) = AsyncStream.makeStream(of: [OperationCommand].self)
    feed.yield(operations.open(lane: lane.lane).map(\.command))
    listeners[lane] = feed
    return stream
  }

  /// Reads what the topic has now.
  func readToEnd() async throws {
    try await records.scan(partition, from: .offset(position), to: .highWatermark, upTo: Self.pageSize) { page in
      await self.fold(page)
    }
  }

  /// Whether a lane that starts has open commands, which its last owner may have begun.
  func hasOpenCommands(for lane: LaneEpoch) -> Bool { !operations.open(lane: lane.lane).isEmpty }

  /// Whether a command is still open. Lanes ask immediately before they execute it.
  func isOpen(_ command: OperationCommand) -> Bool {
    operations.status(of: command.item).map { $0.isOpen && $0.command.id == command.id } ?? false
  }

  /// Whether no command for an item has succeeded or is open.
  func isFree(_ item: String) -> Bool { operations.isFree(item) }

  /// Returns the command for an item that is still open.
  func openCommand(for item: String) -> OperationCommand? {
    #if PLANTED_FAULTS
      if PlantedFault.retriedAfterErasure.isActive { return nil }
    #endif
    return operations.status(of: item).flatMap { $0.isOpen ? $0.command : nil }
  }

  /// The number of commands whose status is in memory.
  var keptStatuses: Int { operations.all.count }

  /// Returns the recorded progress of a replay, or nil if there is none yet.
  func place(of command: OperationCommand) -> ReplayPlace? { operations.status(of: command.item)?.place }

  /// Returns whether a part of a run may continue. The unfinished parts of a run share its rate.
  func control(on command: OperationCommand, rate: Int?) -> ReplayControl {
    guard isOpen(command) else { return .over }
    switch command.run.flatMap({ operations.control(on: $0) }) {
    case .pause?: return .pause
    case .stop?: return .stop
    case .resume?, nil:
      let parts = max(1, command.run.map { operations.openParts(of: $0) } ?? 1)
      return .go(rate: rate.map { Double($0) / Double(parts) })
    }
  }

  /// Signals this waiter whenever an operator pauses, resumes or stops a run.
  nonisolated func attach(_ wakeUp: AsyncSignal) { wakeUps.withLock { $0[ObjectIdentifier(wakeUp)] = wakeUp } }

  nonisolated func detach(_ wakeUp: AsyncSignal) { wakeUps.withLock { $0[ObjectIdentifier(wakeUp)] = nil } }

  /// Ends the commands of a lane that has left.
  func forget(_ lane: LaneEpoch) { listeners.removeValue(forKey: lane)?.finish() }

  /// Applies the new records of a page. The follower and each lane that starts read the same topic at their own pace,
  /// and an old record that is read late must not undo a newer one. Every reader starts at ``position`` or before it
  /// and skips nothing, so the new records of a page always come next.
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
    if isControlled { for wakeUp in wakeUps.withLock({ Array($0.values) }) { wakeUp.signal() } }
  }
}
