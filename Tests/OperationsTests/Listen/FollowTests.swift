// Tests how partitions are followed with one client.

import KafkaClient
import MillraceRecords
import Synchronization
import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(15))) struct FollowTests {
  private static let topic = "appstore.notifications.tests"
  private let cluster: TestCluster

  init() throws { cluster = try TestCluster(try Fixture().catalog) }

  private func follow(_ body: @escaping @Sendable (TopicPartition, LogPage) async throws -> Bool) async throws {
    let log = try await KafkaLog.connect(cluster.configuration, timeout: .seconds(60))
    let starts = try await log.partitions(of: [Self.topic]).map { ($0, StartOffset.earliest) }
    try await log.follow(Dictionary(uniqueKeysWithValues: starts), upTo: 10, body)
  }

  @Test func `it ends when every partition has enough, also without a record`() async throws {
    try await cluster.write([ProducerRecord(topic: Self.topic, partition: 1, value: [1])])
    let read = Mutex<[Int32: Int]>([:])
    try await follow { partition, page in
      read.withLock { $0[partition.partition, default: 0] += page.records.count }
      return page.end == nil
    }
    #expect(read.withLock { $0 } == [0: 0, 1: 1, 2: 0])
  }

  @Test func `an error at one partition ends the others, which wait for records`() async throws {
    struct Refused: Error {}
    await #expect(throws: Refused.self) {
      try await follow { partition, page in
        if partition.partition == 2 { throw Refused() }
        return true
      }
    }
  }

  @Test func `it follows until its task is cancelled`() async throws {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let following = Task {
      try await follow { _, page in
        if page.end != nil { end.yield() }
        return true
      }
    }
    for await _ in ends { break }
    following.cancel()
    await #expect(throws: CancellationError.self) { try await following.value }
  }
}
