// A lane whose mark says that it was running counts as left by a crash. A process that lives on after it lost a lane, or
// could not commit any more, says so on `millrace.control` once its handlers came back: no record is to blame, and the
// next owner must not blame one.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging
internal import Synchronization

/// Says which ownerships of lanes ended without order in a process that lives, and hears of those of others.
final class LaneFarewells: Sendable {
  private struct Farewell: Sendable {
    var lane: Int32
    var owner: UInt32
  }

  private struct State {
    var own: Set<UInt32> = []
    /// Lanes that were left and whose handlers still run: they may kill the process yet.
    var undecided = 0
    var unsaid: [Farewell] = []
    var isClosed = false
  }

  private let worker: String
  private let topic: String
  private let log: any RecordLog
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  private let logger: Logger
  private let bell = LaneBell()
  private let state = Mutex(State())

  private static let kind = "left-alive"
  private static let pageSize = 1_000
  /// How long a process that ends waits for its handlers and tries to say so.
  private static let patience = Duration.seconds(5)
  /// Between tries where Kafka does not take it.
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

  /// The name of a new ownership.
  func newOwner() -> UInt32 {
    var generator = SystemRandomNumberGenerator()
    let owner = UInt32.random(in: .min ... .max, using: &generator)
    state.withLock { _ = $0.own.insert(owner) }
    return owner
  }

  /// A lane was left without the mark of an end in order. That is told when the last of its handlers came back: one that
  /// kills the process does not.
  func left(_ lane: LaneEpoch, as owner: UInt32, _ crew: LaneCrew) {
    state.withLock { $0.undecided += 1 }
    crew.whenEmpty { [self] in
      state.withLock { state in
        state.undecided -= 1
        state.unsaid.append(Farewell(lane: lane.lane, owner: owner))
      }
      bell.ring()
    }
  }

  /// Those of this process, and those that others have told of, where any of these marks speaks of another.
  /// - Parameter marks: What was committed beside the lane's offsets.
  func survivors(of marks: [String]) async throws -> Set<UInt32> {
    let own = state.withLock { $0.own }
    guard PoisonWatch.isSuspicious(marks, known: own) else { return own }
    let told = Mutex(own)
    try await log.scan(
      TopicPartition(topic: topic, partition: 0), from: .earliest, to: .highWatermark, upTo: Self.pageSize
    ) { page in
      for record in page {
        do throws(UnreadableRecord) {
          if let owner = try self.owner(in: record) { told.withLock { _ = $0.insert(owner) } }
        } catch {
          metrics.unreadable(record, because: error, logger)
        }
      }
    }
    return told.withLock { $0 }
  }

  /// Serves while `body` runs, and a moment longer where something is left to say.
  func whileRunning(_ body: @Sendable () async throws -> Void) async throws {
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.run() }
      let result: Result<Void, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      state.withLock { $0.isClosed = true }
      bell.ring()
      group.addTask { await self.rest(for: Self.patience) }
      await group.next()
      group.cancelAll()
      return result
    }
    try result.get()
  }

  /// Says what there is to say until closed or cancelled.
  private func run() async {
    while !Task.isCancelled {
      let (farewells, isOver) = state.withLock { ($0.unsaid, $0.isClosed && $0.undecided == 0) }
      guard !farewells.isEmpty else {
        if isOver { return }
        await bell.wait()
        continue
      }
      do {
        try await log.append(farewells.map { record(of: $0) })
        state.withLock { $0.unsaid.removeFirst(farewells.count) }
      } catch {
        logger.warning(
          "that this process lives could not be told yet; until then its lanes count as left by a crash",
          metadata: ["lanes": "\(farewells.map(\.lane))", "error": "\(error)"])
        await rest(for: Self.pause)
      }
    }
  }

  private func rest(for time: Duration) async {
    do {
      try await clock.sleep(until: clock.now.advanced(by: time))
    } catch {
      // Cancelled: whoever waits sees that.
    }
  }

  /// One key for each lane: of many farewells the newest are kept.
  private func record(of farewell: Farewell) -> ProducerRecord {
    let value = JSON.object([
      "kind": .string(Self.kind), "worker": .string(worker), "lane": .integer(Int64(farewell.lane)),
      "owner": .integer(Int64(farewell.owner)),
    ])
    return ProducerRecord(
      topic: topic, partition: 0, key: Array("\(Self.kind)/\(worker)/\(farewell.lane)".utf8), value: value.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Whom a record tells of; nil where it tells of something else.
  private func owner(in record: ConsumerRecord) throws(UnreadableRecord) -> UInt32? {
    guard let value = record.value else { return nil }
    let object: JSONObject
    do { object = try JSONObject(parsing: value) } catch { throw UnreadableRecord("no JSON object: \(error)") }
    guard object["kind"] == .string(Self.kind), object["worker"] == .string(worker) else { return nil }
    guard case .integer(let number)? = object["owner"], let owner = UInt32(exactly: number) else {
      throw UnreadableRecord("a farewell without owner")
    }
    return owner
  }
}
