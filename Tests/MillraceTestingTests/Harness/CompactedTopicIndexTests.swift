// Tests lookups by key in a compacted topic.

import MillraceTime
import KafkaClient
import MillraceCore
import MillraceWorker
import MillraceTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct CompactedTopicIndexTests {
  private static func write(_ key: String, _ value: String?, to log: InMemoryLog) throws {
    try log.append(ProducerRecord(topic: "t", key: Array(key.utf8), value: value.map { Array($0.utf8) }))
  }

  private static func find(_ keys: String..., in index: CompactedTopicIndex) async throws -> String? {
    try await index.first(of: keys.map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `the newest record of each key is found in any partition, and removed keys are not`()
    async throws
  {
    let log = InMemoryLog(clock: .system)
    try log.createTopic("t", partitions: 5)
    let index = CompactedTopicIndex("t", in: log)
    #expect(try await index.refresh() == 0)
    for round in 0..<3 { for key in 0..<200 { try Self.write("k\(key)", "\(round)/\(key)", to: log) } }
    #expect(try await index.refresh() == 200)
    for key in stride(from: 0, to: 200, by: 17) { #expect(try await Self.find("k\(key)", in: index) == "2/\(key)") }
    #expect(try await Self.find("other", in: index) == nil)
    #expect(try await Self.find("other", "k7", "k8", in: index) == "2/7")
    try Self.write("k7", "new", to: log)
    #expect(try await Self.find("k7", in: index) == "new")
    try Self.write("k7", nil, to: log)
    #expect(try await Self.find("k7", in: index) == nil)
    #expect(try await index.refresh() == 199)
  }

  @Test func `concurrent lookups see all records that were written before them`() async throws {
    let log = InMemoryLog(clock: .system)
    try log.createTopic("t", partitions: 3)
    let index = CompactedTopicIndex("t", in: log)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          try Self.write("k\(number)", "v\(number)", to: log)
          #expect(try await Self.find("k\(number)", in: index) == "v\(number)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a missing topic is an error, and is read after it is created`() async throws {
    let log = InMemoryLog(clock: .system)
    let index = CompactedTopicIndex("t", in: log)
    await #expect(throws: MillraceError.self) { try await index.refresh() }
    try log.createTopic("t", partitions: 2)
    try Self.write("k", "v", to: log)
    #expect(try await Self.find("k", in: index) == "v")
  }
}
