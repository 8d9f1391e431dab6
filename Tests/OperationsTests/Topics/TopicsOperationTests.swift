import Foundation
import KafkaClient
import TestEnvironment
import Testing

@testable import MillraceRecords
@testable import Operations
import MillraceCore

@Suite("Topics of an embedded cluster", .timeLimit(.minutes(15)))
struct EmbeddedTopicsTests {
  @Test("topics as declared need no changes, and other topics are refused with a remedy")
  func refused() async throws {
    let catalog = try Fixture().catalog
    let cluster = try TestCluster(catalog)
    let operation = TopicsOperation(cluster.configuration, catalog: catalog, durability: .relaxed)
    let survey = try await operation.survey()
    #expect(survey.plan.isUpToDate, "\(survey.plan.table())")
    #expect(try await operation.apply(survey) { _ in } == [])
    let wider = try TopicCatalog.load(directory: Project.path("topics"), prefix: "", lanes: 6)
    let different = TopicsOperation(cluster.configuration, catalog: wider, durability: .relaxed)
    let change = try await different.survey()
    let error = await #expect(throws: OperationError.self) { try await different.apply(change) { _ in } }
    #expect(error?.what.contains("embedded") == true)
  }
}

// Creating topics needs the admin API, which the embedded cluster does not have.
@Suite(
  "Topics of a real cluster",
  .enabled(if: RealCluster.isNamed, "needs a Kafka cluster in KAFKA_BOOTSTRAP_SERVERS"), .timeLimit(.minutes(15)))
struct TopicsOperationTests {
  private func operation(_ prefix: String, lanes: Int = 3) throws -> TopicsOperation {
    let catalog = try TopicCatalog.load(
      directory: Project.path("topics"), prefix: prefix, lanes: lanes)
    return TopicsOperation(RealCluster.configuration, catalog: catalog, durability: .relaxed)
  }

  @Test("applied topics are as declared, and a second run changes nothing")
  func applied() async throws {
    let operation = try operation("\(SharedCluster.uniqueName()).")
    let before = try await operation.survey()
    #expect(before.changes.count == before.plan.steps.count)
    #expect(try await operation.apply(before) { _ in } == [])
    let after = try await operation.survey()
    #expect(after.plan.isUpToDate, "\(after.plan.table())")
  }

  @Test("concurrent runs both succeed, also if the topics already exist")
  func concurrent() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let (one, other) = (try operation(prefix), try operation(prefix))
    let (first, second) = (try await one.survey(), try await other.survey())
    async let left = one.apply(first) { _ in }
    async let right = other.apply(second) { _ in }
    #expect(try await left == [])
    #expect(try await right == [])
    let after = try await one.survey()
    #expect(after.plan.isUpToDate, "\(after.plan.table())")
    // With an older survey: every topic now exists, and one is not as declared.
    try await KafkaAdmin(RealCluster.configuration).alterTopic(
      prefix + "appstore.notifications.refunds", settings: ["retention.ms": "1000"], timeout: .seconds(30))
    let notes = CollectedOutput()
    let output = notes.output()
    #expect(try await one.apply(first) { output.note($0) } == [])
    #expect(notes.lines.count == first.changes.count && notes.lines.allSatisfy { $0.contains("another process") })
    #expect(try await one.survey().plan.isUpToDate)
  }

  @Test("a topic's own setting that no file declares is found")
  func undeclared() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let operation = try operation(prefix)
    #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    let topic = prefix + "appstore.notifications.refunds"
    try await KafkaAdmin(RealCluster.configuration).alterTopic(
      topic, settings: ["retention.bytes": "1000"], timeout: .seconds(30))
    let survey = try await operation.survey()
    #expect(survey.plan.steps.contains(.undeclared(topic: topic, settings: ["retention.bytes": "1000"])))
    #expect(survey.replicas.problems.isEmpty)
  }

  @Test("a cluster that refuses a setting gets the topic with its other settings")
  func refusedSetting() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    func operation(retention: Int) throws -> TopicsOperation {
      let text = """
        name: t
        description: For a test.
        keyed: true
        replication: 1
        promise: false
        notifications: { unrecognized: true }
        settings:
          cleanup.policy: delete
          max.message.bytes: 4294967296
          retention.ms: \(retention)
        """
      let catalog = try TopicCatalog(files: [("t.yaml", text)], prefix: prefix, lanes: 2)
      return TopicsOperation(RealCluster.configuration, catalog: catalog, durability: .relaxed)
    }
    func apply(retention: Int) async throws -> [String] {
      let operation = try operation(retention: retention)
      let notes = CollectedOutput()
      let output = notes.output()
      let survey = try await operation.survey()
      #expect(survey.status == .success)
      #expect(try await operation.apply(survey) { output.note($0) } == [])
      let found = try await KafkaAdmin(RealCluster.configuration).describeTopics(["\(prefix)t"], timeout: .seconds(30))
      #expect(found.first?.settings?["retention.ms"] == "\(retention)" && found.first?.partitionCount == 2)
      return notes.lines
    }
    let refused = "\(prefix)t, but the cluster refused max.message.bytes=4294967296, so it stays "
    let created = try await apply(retention: 86_400_000)
    #expect(created.count == 1 && created[0].hasPrefix("created \(refused)"), "\(created)")
    let altered = try await apply(retention: 3_600_000)
    #expect(altered.count == 1 && altered[0].hasPrefix("altered \(refused)"), "\(altered)")
  }

  @Test("topics with keys cannot get more lanes once they exist")
  func lanes() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let first = try operation(prefix)
    #expect(try await first.apply(try await first.survey()) { _ in } == [])
    let survey = try await operation(prefix, lanes: 6).survey()
    #expect(survey.status == .failure)
    #expect(survey.changes.isEmpty, "\(survey.plan.table())")
  }

  @Test("a changed setting is restored, and other overrides stay")
  func altered() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let operation = try operation(prefix)
    #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    let admin = KafkaAdmin(RealCluster.configuration)
    let topic = prefix + "appstore.notifications.refunds"
    try await admin.alterTopic(
      topic, settings: ["retention.ms": "1000", "compression.type": "zstd"], timeout: .seconds(30))
    let survey = try await operation.survey()
    #expect(survey.changes.count == 1)
    #expect(survey.plan.steps.contains(.undeclared(topic: topic, settings: ["compression.type": "zstd"])))
    #expect(try await operation.apply(survey) { _ in } == [])
    let settings = try await admin.describeTopics([topic], timeout: .seconds(30)).first?.settings
    #expect(settings?["retention.ms"] == "2592000000" && settings?["compression.type"] == "zstd")
  }
}

enum RealCluster {
  static let servers = SharedCluster.servers ?? ""
  static var isNamed: Bool { !servers.isEmpty }
  static var configuration: KafkaConfiguration { KafkaConfiguration(bootstrapServers: servers, clientID: "test") }
}
