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
