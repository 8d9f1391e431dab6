// Tests which headers of a record a worker trusts: a history only on its own topics, and the header with a rehearsal's
// time only if `clock` is configured.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(5))) struct RecordTrustTests {
  /// A history that another producer forged.
  private static let forged = [
    RecordHeader("millrace-first-topic", "elsewhere"), RecordHeader("millrace-first-partition", "3"),
    RecordHeader("millrace-first-offset", "77"), RecordHeader("millrace-first-timestamp", "1000"),
    RecordHeader("millrace-attempt", "9"), RecordHeader("millrace-deadline", "2000"),
    RecordHeader("millrace-due", "99999999999999"), RecordHeader("millrace-cause", "forged"),
    RecordHeader("millrace-replay-mode", "reapply"), RecordHeader("ce_replayid", "forged"),
  ]

  /// The records that handlers received.
  private final class Seen: Sendable {
    private let items = Mutex<[(written: Timestamp, history: DeliveryHistory)]>([])
    func add(_ item: LaneItem) { items.withLock { $0.append((item.firstWritten, item.history)) } }
    var all: [(written: Timestamp, history: DeliveryHistory)] { items.withLock { $0 } }
  }

  /// A rehearsal's clock, a year behind the clock of the log.
  private static func rehearsal(_ time: ManualClock) -> MillraceClock {
    MillraceClock(
      wallTime: { time.clock.wallTime - .seconds(365 * 86_400) }, elapsed: { time.clock.now.elapsed },
      isSimulated: true, sleepUntil: { try await time.clock.sleep(until: .init(elapsed: $0)) })
  }

  @Test func `a history on a notification topic is ignored`() {
    let record = ConsumerRecord(
      topic: WorkerFleet.live, partition: 0, offset: 5, timestamp: 50_000, key: [1], value: [1],
      headers: [RecordHeader("ce_id", "n1")] + Self.forged)
    let item = LaneItem(record, source: .live)
    #expect(item.history.first == RecordPosition(topic: WorkerFleet.live, partition: 0, offset: 5))
    #expect(item.firstWritten == Timestamp(millisecondsSince1970: 50_000))
    #expect(item.attempt == 0 && item.deadline == nil && item.awaited == nil && item.history.causes.isEmpty)
    #expect(item.replay == nil && item.arrival == .live)
  }

  @Test(arguments: [LaneSource.retry(0), .replay])
  func `a history on the worker's own topics is used`(source: LaneSource) {
    let record = ConsumerRecord(
      topic: "millrace.mill.replay", partition: 0, offset: 5, timestamp: 50_000, key: [1], value: [1],
      headers: [RecordHeader("ce_id", "n1")] + Self.forged)
    let item = LaneItem(record, source: source)
    #expect(item.history.first == RecordPosition(topic: "elsewhere", partition: 3, offset: 77))
    #expect(item.firstWritten == Timestamp(millisecondsSince1970: 1_000))
    #expect(item.attempt == 9 && item.history.causes == ["forged"] && item.replay?.mode == .reapply)
  }

  @Test func `retry, replay and dead-letter topics are a worker's own, other topics are not`() throws {
    let topics = WorkerTopics(
      worker: "mill", inputs: [WorkerFleet.live], delays: [.seconds(2)], prefix: "p.")
    for own in [topics.retries[0], topics.replay, topics.deadLetters] { #expect(topics.isOwn(own)) }
    for other in [WorkerFleet.live, topics.events, topics.ledger, "p.millrace.other.replay", "millrace.mill.replay"] {
      #expect(!topics.isOwn(other), "\(other)")
    }
  }

  @Test func `handlers and delayed records get a new history instead of a forged one`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    var record = fleet.record("n1", key: "k")
    record.headers += Self.forged
    let start = fleet.clock.wallTime
    try fleet.log.append(record)
    let seen = Seen()
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, _ in
        seen.add(item)
        return item.attempt == 0 ? .retry(after: .seconds(2), because: "later") : .ignore
      })
    #expect(await fleet.until { seen.all.count == 2 && fleet.isRead() } != nil)
    await process.crash()
    let live = RecordPosition(topic: WorkerFleet.live, partition: 0, offset: 0)
    #expect(seen.all.map(\.history.first) == [live, live])
    #expect(seen.all.allSatisfy { $0.written == start })
    #expect(seen.all.map(\.history.attempt) == [0, 1])
    #expect(seen.all.allSatisfy { $0.history.replay == nil && $0.history.deadline == nil })
  }

  @Test func `a replay of a forged record has the record's real position`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    var record = fleet.record("n1", key: "k")
    record.headers += Self.forged
    try fleet.log.append(record)
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered().count == 1 && fleet.isRead() } != nil)
    let command = OperationCommand(
      id: "c", run: "run", item: "c", worker: "mill", lane: 0,
      action: .replay(ReplayPart(topic: WorkerFleet.live, from: 0, to: 1)), why: "a test", by: "ann",
      at: fleet.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    #expect(await fleet.until { fleet.operations().status(of: "c")?.outcome == .done } != nil)
    await process.crash()
    let copy = try #require(fleet.log.records(in: fleet.topics.replay).first)
    let history = DeliveryHistory(copy)
    #expect(history.first == RecordPosition(topic: WorkerFleet.live, partition: 0, offset: 0))
    #expect(history.causes.isEmpty && history.replay?.mode == .plain && history.replay?.id == "run")
    #expect(copy.headers.filter { $0.name == "millrace-first-offset" }.count == 1)
  }

  // MARK: - The time of a rehearsal

  @Test func `in a rehearsal records have the real timestamp and a header with the rehearsal's time`() async throws {
    let time = ManualClock()
    let clock = Self.rehearsal(time)
    let fleet = try WorkerFleet(lanes: 1, time: time, clock: clock)
    let start = clock.wallTime
    try fleet.log.append(fleet.record("n1", key: "k").timed(by: clock))
    let seen = Seen()
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, _ in
        seen.add(item)
        return item.attempt == 0
          ? .retry(after: .seconds(2), because: "later") : try .emit(FleetHandler.Answer(id: item.id))
      })
    #expect(await fleet.until { fleet.answered().count == 1 && fleet.isRead() } != nil)
    await process.crash()
    #expect(seen.all.map(\.written) == [start, start], "the time of the first receipt must be the rehearsal's time")
    let written = fleet.log.records(in: fleet.topics.retries[0]) + fleet.log.records(in: fleet.topics.events)
    #expect(written.count == 2)
    for record in written {
      let (real, told) = (try #require(record.timestamp), try #require(record.time(by: clock)))
      #expect(abs(real - time.clock.wallTime.millisecondsSince1970) < 600_000, "not the real time")
      #expect(told >= start && told <= clock.wallTime)
    }
  }

  @Test func `in a rehearsal lag uses the rehearsal's time`() async throws {
    let time = ManualClock()
    let fleet = try WorkerFleet(lanes: 1, time: time, clock: Self.rehearsal(time))
    let record = ConsumerRecord(
      topic: WorkerFleet.live, partition: 0, offset: 0, timestamp: time.clock.wallTime.millisecondsSince1970, key: [1],
      value: [1], headers: fleet.record("n1", key: "k").timed(by: fleet.clock).headers)
    #expect(LaneItem(record, source: .live, clock: fleet.clock).written == fleet.clock.wallTime)
    #expect(LaneItem(record, source: .live, clock: time.clock).written == time.clock.wallTime)
  }

  @Test func `without a configured clock a forged time has no effect`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    var record = fleet.record("n1", key: "k")
    record.headers.append(RecordHeader("millrace-time", "1000"))
    let start = fleet.clock.wallTime
    try fleet.log.append(record)
    let seen = Seen()
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, _ in
        seen.add(item)
        return try .emit(FleetHandler.Answer(id: item.id))
      })
    #expect(await fleet.until { fleet.answered().count == 1 && fleet.isRead() } != nil)
    await process.crash()
    #expect(seen.all.map(\.written) == [start])
    let event = try #require(fleet.log.records(in: fleet.topics.events).first)
    #expect(!event.headers.contains { $0.name == "millrace-time" })
  }

  @Test func `in a rehearsal records are found by the rehearsal's time`() async throws {
    let time = ManualClock()
    let (log, clock) = (InMemoryLog(clock: time.clock), Self.rehearsal(time))
    try log.createTopic("t", partitions: 1)
    for number in 0..<4 as Range<UInt8> {
      try log.append(ProducerRecord(topic: "t", partition: 0, value: [number]).timed(by: clock))
      time.advance(by: .seconds(60))
    }
    func found(_ since: Timestamp, by clock: MillraceClock) async throws -> [UInt8] {
      try await log.fold(["t"], since: since, by: clock, into: []) { $0 += $1.value ?? [] }
    }
    #expect(try await found(clock.wallTime - .seconds(120), by: clock) == [2, 3])
    #expect(try await found(time.clock.wallTime - .seconds(120), by: time.clock) == [2, 3])
    #expect(try await found(time.clock.wallTime - .seconds(120), by: clock) == [])
  }
}
