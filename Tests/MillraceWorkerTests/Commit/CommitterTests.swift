// Tests what the committer writes for lanes that are lost during a commit.

import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct CommitterTests {
  /// A lane with one ledger record and one offset for each write.
  private struct Lane: CommitLane {
    let epoch: LaneEpoch
    let topics: WorkerTopics

    func seal(_ writes: [LaneWrite]) async -> LaneCommit? {
      LaneCommit(
        writes: writes,
        offsets: [CommittedOffset(TopicPartition(topic: WorkerFleet.live, partition: epoch.lane), offset: 1)],
        entries: [],
        ledger: writes.map { _ in
          ProducerRecord(topic: topics.ledger, partition: epoch.lane, key: [UInt8(epoch.lane)], value: [1])
        })
    }

    func committed(_ commit: LaneCommit) async {}
  }

  /// A group that accepts every offset.
  private final class Group: LogReader {
    private let offsets = Mutex<[CommittedOffset]>([])

    var committed: [Int32] { offsets.withLock { $0.map(\.partition.partition) } }
    var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { AsyncStream<LogReaderEvent> { $0.finish() } }

    func run() async throws(KafkaError) {}
    func shutDown() {}
    func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {
      self.offsets.withLock { $0 += offsets }
    }
    func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset] {
      []
    }
    func groupMetadata() async throws(KafkaError) -> GroupMetadata {
      throw KafkaError(code: .closed, operation: "test", reason: "no group")
    }
  }

  @Test func `offsets that the group refused are lag, and are committed although no other record follows`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 1, commit: .atLeastOnce)
    let live = TopicPartition(topic: WorkerFleet.live, partition: 0)
    func committed() -> Int64 {
      fleet.log.committedOffsets(of: fleet.topics.group).first { $0.partition == live }?.offset ?? 0
    }
    func lag() -> Int64? {
      let lines = fleet.metrics.render().split(separator: "\n")
      return lines.first { $0.hasPrefix("millrace_worker_lag_records{") && $0.contains(WorkerFleet.live) }
        .flatMap { $0.split(separator: " ").last }.flatMap { Int64($0) }
    }
    let process = fleet.start("p", FleetHandler(Book()))
    try fleet.put("first", key: "k")
    #expect(await fleet.until { fleet.isRead() } != nil)
    let refusal = KafkaError(code: .rebalanceInProgress, operation: "test", reason: "rebalancing")
    process.log.fail(.commitOffsets, with: [refusal, refusal])
    try fleet.put("second", key: "k")
    let isWritten = await fleet.until {
      guard fleet.answered() == ["first", "second"] else { return false }
      return await process.held() == 0
    }
    #expect(isWritten != nil && committed() == 1)
    await process.measureLag()
    #expect(lag() == 1, "the metric differs from what Kafka has")
    #expect(await fleet.until(within: .seconds(10)) { fleet.isRead() } != nil, "the offset is never committed")
    await process.measureLag()
    #expect(lag() == 0 && committed() == 2)
    #expect(fleet.answered() == ["first", "second"])
    await process.crash()
  }

  @Test func `a committer that was abandoned replaces no client, which would fence another process`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let log = fleet.log.process("p")
    let clients = FleetProcess.Shared(0)
    let producer = try ReplaceableProducer { () throws(KafkaError) in
      clients.change { $0 += 1 }
      return try log.makeTransactionalWriter(id: "p", timeout: .seconds(10))
    }
    let committer = Committer(
      calls: CommitCalls(writer: .transactional(producer), reader: Group(), clock: fleet.time.clock) {},
      clock: fleet.time.clock, count: 100,
      interval: .milliseconds(20), metrics: WorkerMetrics(worker: "mill"), logger: WorkerFleet.logger)
    producer.failed(KafkaError(code: .fenced, operation: "test", reason: "test", isFatal: true))
    committer.abandon()
    let isOver = FleetProcess.Shared(false)
    let run = Task {
      try await committer.run()
      isOver.set(true)
    }
    #expect(await fleet.until { isOver.get() || clients.get() > 1 } != nil)
    #expect(clients.get() == 1)
    committer.shutDown()
    try await run.value
  }

  @Test func `without transactions a lane lost during an outage is not written further`() async throws {
    let fleet = try WorkerFleet(lanes: 2, commit: .atLeastOnce)
    let log = fleet.log.process("p")
    let group = Group()
    let committer = Committer(
      calls: CommitCalls(writer: .plain(try log.makeWriter()), reader: group, clock: fleet.time.clock) {},
      clock: fleet.time.clock, count: 100,
      interval: .milliseconds(20), metrics: WorkerMetrics(worker: "mill"), logger: WorkerFleet.logger)
    let (lost, kept) = (LaneEpoch(lane: 0, epoch: 1), LaneEpoch(lane: 1, epoch: 2))
    let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
    log.fail(.send, with: Array(repeating: away, count: 8), in: fleet.topics.ledger)
    let receipts = [lost, kept].map { ($0, WriteReceipt()) }
    for (epoch, receipt) in receipts {
      committer.attach(Lane(epoch: epoch, topics: fleet.topics), as: epoch)
      committer.submit([LaneWrite(lane: epoch, isUrgent: true, receipt: receipt)], of: epoch)
    }
    let run = Task { try await committer.run() }
    // The committer retries the ledger records.
    await fleet.time.waitForSleepers()
    committer.detach(lost)
    let fates = Task {
      var fates: [LaneEpoch: CommitResult] = [:]
      for (epoch, receipt) in receipts { fates[epoch] = await receipt.fate() }
      return fates
    }
    #expect(await fleet.until { group.committed == [1] } != nil)
    committer.shutDown()
    #expect(await fates.value == [lost: .dropped, kept: .committed])
    #expect(fleet.log.records(in: fleet.topics.ledger).map(\.partition) == [1])
    try await run.value
  }
}
