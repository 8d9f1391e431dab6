import KafkaClient
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite(.timeLimit(.minutes(15))) struct ReadinessCheckKafkaTests {
  private let declared = [
    TopicDefinition(name: "one", topic: "one", description: "", keyed: true, lanes: 2, replication: 3, promise: true),
    TopicDefinition(name: "two", topic: "two", description: "", keyed: true, lanes: 2, replication: 3, promise: true),
  ]

  private func outcome(
    of cluster: EmbeddedCluster, durability: KafkaSettings.Durability
  ) async throws -> CheckOutcome {
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers))
    return try await ReadinessCheck.kafka(
      admin, declared: declared, durability: durability, timeout: .seconds(10)
    ).run()
  }

  @Test func `a development cluster with all topics is ready only with relaxed durability`()
    async throws
  {
    let cluster = try EmbeddedCluster()
    for topic in declared { try cluster.createTopic(topic.topic, partitions: topic.lanes) }
    #expect(try await outcome(of: cluster, durability: .relaxed).isHealthy)
    let strict = try await outcome(of: cluster, durability: .strict)
    #expect(!strict.isHealthy)
    #expect(strict.detail.contains("replicas"))
    #expect(strict.remedy?.contains("kafka.durability") == true)
  }

  @Test func `a missing topic is named`() async throws {
    let cluster = try EmbeddedCluster()
    try cluster.createTopic("one", partitions: 2)
    let found = try await outcome(of: cluster, durability: .relaxed)
    #expect(!found.isHealthy)
    #expect(found.detail.contains("two"))
  }

  @Test func `an unreachable cluster is an error, which the board reports`() async throws {
    let cluster = try EmbeddedCluster()
    try ProcessStart.alone { try cluster.takeDown(1) }
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers))
    let check = ReadinessCheck.kafka(admin, declared: declared, durability: .relaxed, timeout: .milliseconds(300))
    await #expect(throws: KafkaError.self) { try await check.run() }
  }
}
