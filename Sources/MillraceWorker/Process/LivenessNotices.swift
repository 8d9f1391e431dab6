// Publishes liveness notices. A lane whose crash mark says that it was running normally counts as an unclean start. But
// a process can lose a lane, or the ability to commit, and live on. After the lane's handlers have returned, it
// publishes a notice on `millrace.control`. No record is to blame then, and the next owner of the lane suspects none.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Synchronization
internal import MillraceRecords

/// Publishes a notice for each lane that this process left without a clean end mark, and reads the notices of
/// other processes.
final class LivenessNotices: Sendable {
  private struct LivenessNotice: Sendable {
    var lane: Int32
    var owner: UInt32
  }

  private struct State {
    var own: Set<UInt32> = []
    /// Lanes that this process has left while their handlers still run. These can still kill the process.
    var undecided = 0
    var unsaid: [LivenessNotice] = []
    var isClosed = false
  }

  private let worker: String
  private let topic: String
  private let log: any RecordLog
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  private let logger: Logger
  private let wakeUp = AsyncSignal()
  private let state = Mutex(State())

  private static let kind = "left-alive"
  private static let pageSize = 1_000
  /// The longest time that a process waits, before it ends, for its handlers and for the notices to be written.
  private static let patience = Duration.seconds(5)
  /// The pause between attempts to write a notice.
  private static let pause = Duration.seconds(1)

  init(
    worker: String, topic: String, log: any RecordLog, clock: MillraceClock, metrics: WorkerMetrics, logger: Logger
  ) {
    self.worker = worker
    self.topic = topic
    self.log = log
    self.clock = clock
    self.metrics = metrics
    self.logger = logger
  }

  /// Returns a random id for a new ownership of a lane.
  func newOwner() -> UInt32 {
    var generator = SystemRandomNumberGenerator()
    let owner = UInt32.random(in: .min ... .max, using: &generator)
    state.withLock { _ = $0.own.insert(owner) }
    return owner
  }

  /// Registers a lane that ended without a clean end mark. The notice is published only after the last of the lane's
  /// handlers has returned, because a handler that kills the process never returns.
  func left(_ lane: LaneEpoch, as owner: UInt32, _ pool: HandlerPool) {
    state.withLock { $0.undecided += 1 }
    pool.whenEmpty { [self] in
      state.withLock { state in
        state.undecided -= 1
        state.unsaid.append(LivenessNotice(lane: lane.lane, owner: owner))
      }
      wakeUp.signal()
    }
  }

  /// Returns the ownerships whose process lived on. If a mark names an owner outside this process, they include those
  /// that other processes have published.
  /// - Parameter marks: The metadata committed with the lane's offsets.
  func survivors(of marks: [String]) async throws -> Set<UInt32> {
    let own = state.withLock { $0.own }
    guard PoisonDetector.isSuspicious(marks, known: own) else { return own }
    return try await log.fold(TopicPartition(topic: topic, partition: 0), upTo: Self.pageSize, into: own) {
      survivors, page in
      for record in page {
        do throws(UnreadableRecord) {
          if let owner = try self.owner(in: record) { survivors.insert(owner) }
        } catch {
          metrics.unreadable(record, because: error, logger)
        }
      }
    }
  }

  /// Publishes notices while `body` runs, and up to five seconds longer if some are left.
  func whileRunning(_ body: @Sendable () async throws -> Void) async throws {
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.run() }
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      state.withLock { $0.isClosed = true }
      wakeUp.signal()
      group.addTask { await self.rest(for: Self.patience) }
      await group.next()
      group.cancelAll()
      return result
    }
    try result.get()
  }

  /// Publishes notices until closed or cancelled.
  private func run() async {
    while !Task.isCancelled {
      let (notices, isOver) = state.withLock { ($0.unsaid, $0.isClosed && $0.undecided == 0) }
      guard !notices.isEmpty else {
        if isOver { return }
        await wakeUp.wait()
        continue
      }
      do {
        try await log.append(notices.map { record(of: $0) })
        state.withLock { $0.unsaid.removeFirst(notices.count) }
      } catch {
        logger.warning(
          "could not publish the liveness notice; retrying. Until then the lanes count as crashed",
          metadata: ["lanes": "\(notices.map(\.lane))", "error": "\(error)"])
        await rest(for: Self.pause)
      }
    }
  }

  private func rest(for time: Duration) async {
    do {
      try await clock.sleep(until: clock.now.advanced(by: time))
    } catch {
      // The caller checks for cancellation.
    }
  }

  /// Returns the record of a notice. The key names the lane, so compaction keeps the newest notice of each lane.
  private func record(of notice: LivenessNotice) -> ProducerRecord {
    let value = JSON.object([
      "kind": .string(Self.kind), "worker": .string(worker), "lane": .integer(Int64(notice.lane)),
      "owner": .integer(Int64(notice.owner)),
    ])
    return ProducerRecord(
      topic: topic, partition: 0, key: Array("\(Self.kind)/\(worker)/\(notice.lane)".utf8), value: value.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Returns the ownership that a notice names, or nil for other records.
  private func owner(in record: ConsumerRecord) throws(UnreadableRecord) -> UInt32? {
    guard let value = record.value else { return nil }
    let object: JSONObject
    do { object = try JSONObject(parsing: value) } catch { throw UnreadableRecord("not a JSON object: \(error)") }
    guard object["kind"] == .string(Self.kind), object["worker"] == .string(worker) else { return nil }
    guard case .integer(let number)? = object["owner"], let owner = UInt32(exactly: number) else {
      throw UnreadableRecord("the liveness notice has no valid `owner`")
    }
    return owner
  }
}
