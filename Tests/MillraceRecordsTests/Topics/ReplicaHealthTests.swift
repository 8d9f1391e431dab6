import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct ReplicaHealthTests {
  private static let declared = [TopicDefinition(name: "a"), TopicDefinition(name: "b")]

  private static func state(_ topic: String, _ inSync: [Int?], of replicas: Int = 3) -> TopicState {
    TopicState(
      topic: topic, partitions: inSync.count, replication: replicas, settings: ["min.insync.replicas": "2"],
      replicas: inSync.map { PartitionReplicas(hasLeader: $0 != nil, replicas: replicas, inSync: $0 ?? 0) })
  }

  private static func problems(_ states: [TopicState], absent: [Int] = []) -> [ReplicaHealth.Problem] {
    ReplicaHealth(declared: declared, actual: states, absentBrokers: absent).problems
  }

  @Test func `No problem is reported if every replica is in sync`() {
    #expect(Self.problems([Self.state("a", [3, 3]), Self.state("b", [3])]).isEmpty)
    // A development cluster of one broker.
    #expect(Self.problems([Self.state("a", [1, 1], of: 1)]).isEmpty)
    // The replicas are unknown, or the topic is not declared.
    #expect(Self.problems([Self.state("a", []), Self.state("other", [1, nil])]).isEmpty)
  }

  @Test func `Missing leaders, too few in-sync replicas and lagging replicas are reported separately`() throws {
    let found = Self.problems([Self.state("a", [3, 2, 2, 1]), Self.state("b", [nil, 2])], absent: [3])
    #expect(
      found.map(\.what) == [
        "1 of 6 partitions have no leader and can be neither read nor written (b-0)",
        "1 of 6 partitions have fewer in-sync replicas than min.insync.replicas and accept no records (a-3)",
        "3 of 6 partitions have replicas that are not in sync (a-1 and 2 more)",
      ])
    #expect(found.allSatisfy { $0.remedy == "start broker 3, and wait until the replicas have caught up" })
    let slow = try #require(Self.problems([Self.state("a", [2])]).first)
    #expect(slow.remedy.contains("logs and disks"))
  }

  @Test func `A broker that does not answer is reported before its replicas lag`() {
    let found = Self.problems([Self.state("a", [3])], absent: [2, 3])
    #expect(found.map(\.what) == ["brokers 2 and 3 do not answer"])
    #expect(found.first?.remedy.hasPrefix("start brokers 2 and 3") == true)
  }
}
