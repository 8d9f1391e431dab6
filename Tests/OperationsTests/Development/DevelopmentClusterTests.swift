import KafkaClient
import MillraceWorker
import Testing

@testable import Operations

@Suite("The development cluster", .timeLimit(.minutes(15)))
struct DevelopmentClusterTests {
  @Test("it has every topic with its lanes, and describes itself")
  func topics() async throws {
    let catalog = try Fixture().catalog
    let cluster = try DevelopmentCluster.start(catalog: catalog, brokers: 3)
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers))
    #expect(try await admin.describeCluster(timeout: .seconds(60)).brokerCount == 3)
    let topics = try await admin.describeTopics(catalog.topics.map(\.topic), timeout: .seconds(60))
    #expect(topics.map(\.name) == catalog.topics.map(\.topic).sorted())
    for topic in topics {
      #expect(topic.partitionCount == catalog.topics.first { $0.topic == topic.name }?.lanes, "\(topic.name)")
    }
    #expect(
      DevelopmentCluster.sentence(catalog: catalog, brokers: 3)
        == "embedded cluster: 3 brokers, 26 topics, data is lost when it ends")
  }

  @Test("it runs until it is cancelled, and ends without an error")
  func cancelled() async throws {
    let catalog = try Fixture().catalog
    let (addresses, source) = AsyncStream.makeStream(of: String.self)
    let running = Task {
      try await DevelopmentCluster.run(catalog: catalog, brokers: 1) { source.yield($0) }
    }
    for await address in addresses {
      #expect(address.contains(":"))
      break
    }
    running.cancel()
    try await running.value
  }
}
