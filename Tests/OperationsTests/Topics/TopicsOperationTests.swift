import Foundation
import Kafka
import Millrace
import Testing

@testable import Operations

@Suite("Topics of an embedded cluster", .timeLimit(.minutes(15)))
struct EmbeddedTopicsTests {
  @Test("they are compared; applying does nothing where nothing differs, else it is refused with what to do instead")
  func refused() async throws {
    let catalog = try Fixture().catalog
    let cluster = try TestCluster(catalog)
    let operation = TopicsOperation(cluster.configuration, catalog: catalog, durability: .relaxed)
    let survey = try await operation.survey()
    #expect(survey.plan.isUpToDate, "\(survey.plan.table())")
    #expect(try await operation.apply(survey) { _ in } == [])
    let wider = try TopicCatalog.load(directory: topicsDirectory, prefix: "", lanes: 6)
    let different = TopicsOperation(cluster.configuration, catalog: wider, durability: .relaxed)
    let change = try await different.survey()
    let error = await #expect(throws: OperationError.self) { try await different.apply(change) { _ in } }
    #expect(error?.what.contains("embedded") == true)
  }
}

// Creating topics needs an administration, which the embedded cluster has not.
@Suite(
  "Topics of a real cluster",
  .enabled(if: RealCluster.isNamed, "needs a Kafka that KAFKA_BOOTSTRAP_SERVERS names"), .timeLimit(.minutes(15)))
struct TopicsOperationTests {
  private func operation(_ prefix: String, lanes: Int = 3) throws -> TopicsOperation {
    let catalog = try TopicCatalog.load(
      directory: topicsDirectory, prefix: prefix, lanes: lanes)
    return TopicsOperation(RealCluster.configuration, catalog: catalog, durability: .relaxed)
  }

  @Test("what was applied is as declared, a second time there is nothing to do")
  func applied() async throws {
    let operation = try operation("t\(UUID().uuidString.prefix(8).lowercased()).")
    let before = try await operation.survey()
    #expect(before.changes.count == before.plan.steps.count)
    #expect(try await operation.apply(before) { _ in } == [])
    let after = try await operation.survey()
    #expect(after.plan.isUpToDate, "\(after.plan.table())")
  }

  @Test("more lanes are refused for topics with keys once they exist")
  func lanes() async throws {
    let prefix = "t\(UUID().uuidString.prefix(8).lowercased())."
    let first = try operation(prefix)
    #expect(try await first.apply(try await first.survey()) { _ in } == [])
    let survey = try await operation(prefix, lanes: 6).survey()
    #expect(survey.status == .failure)
    #expect(survey.changes.isEmpty, "\(survey.plan.table())")
  }

  @Test("an altered setting is mended, and other overrides stay")
  func altered() async throws {
    let prefix = "t\(UUID().uuidString.prefix(8).lowercased())."
    let operation = try operation(prefix)
    #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    let admin = KafkaAdmin(RealCluster.configuration)
    let topic = prefix + "appstore.notifications.refunds"
    try await admin.alterTopic(
      topic, settings: ["retention.ms": "1000", "compression.type": "zstd"], timeout: .seconds(30))
    let survey = try await operation.survey()
    #expect(survey.changes.count == 1)
    #expect(try await operation.apply(survey) { _ in } == [])
    let settings = try await admin.describeTopics([topic], timeout: .seconds(30)).first?.settings
    #expect(settings?["retention.ms"] == "2592000000" && settings?["compression.type"] == "zstd")
  }
}

enum RealCluster {
  static let servers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? ""
  static var isNamed: Bool { !servers.isEmpty }
  static var configuration: KafkaConfiguration { KafkaConfiguration(bootstrapServers: servers, clientID: "test") }
}
