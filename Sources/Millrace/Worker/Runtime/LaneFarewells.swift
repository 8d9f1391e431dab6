// A lane whose mark says that it was running counts as left by a crash. A process that lives on after it lost a lane, or
// could not commit any more, says so on `millrace.control`: no record is to blame, and the next owner must not blame one.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging
internal import Synchronization

/// Says which ownerships of lanes ended without order in a process that lives, and hears of those of others.
final class LaneFarewells: Sendable {
  private struct State {
    var own: Set<UInt32> = []
    var unsaid: [UInt32] = []
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
  /// How long a process that ends tries to say so.
  private static let patience = Duration.seconds(5)

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

  /// A lane was left without the mark of an end in order.
  func say(_ owner: UInt32) {
    state.withLock { $0.unsaid.append(owner) }
    bell.ring()
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

  /// Says what there is to say until closed or cancelled.
  func run() async {
    while !Task.isCancelled {
      let (owners, isClosed) = state.withLock { state in
        defer { state.unsaid = [] }
        return (state.unsaid, state.isClosed)
      }
      if owners.isEmpty {
        if isClosed { return }
        await bell.wait()
        continue
      }
      do { try await write(owners) } catch {
        logger.warning(
          "that this process lives could not be told; its lanes count as left by a crash",
          metadata: ["lanes": "\(owners.count)", "error": "\(error)"])
      }
    }
  }

  /// Serves while `body` runs, and a moment longer where something is left to say.
  func whileRunning(_ body: () async throws -> Void) async throws {
    let saying = Task { await run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    state.withLock { $0.isClosed = true }
    bell.ring()
    do {
      _ = try await clock.result(within: Self.patience) { await saying.value }
    } catch {
      // Cancelled: nobody waits any more.
    }
    saying.cancel()
    try result.get()
  }

  private func write(_ owners: [UInt32]) async throws {
    let writer = try log.makeWriter()
    let records = owners.map { owner in
      ProducerRecord(
        topic: topic, partition: 0, key: Array("\(Self.kind)/\(worker)/\(owner)".utf8),
        value: JSON.object(["kind": .string(Self.kind), "worker": .string(worker), "owner": .integer(Int64(owner))])
          .serialized(),
        headers: [RecordHeader("content-type", "application/json")])
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      group.addTask {
        defer { writer.shutDown() }
        _ = try await writer.send(contentsOf: records)
      }
      try await group.waitForAll()
    }
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
