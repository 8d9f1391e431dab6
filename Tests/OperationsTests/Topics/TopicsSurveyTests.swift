import AppStore
import KafkaClient
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations
import MillraceCore

@Suite("Comparing declared topics with a cluster")
struct TopicsSurveyTests {
  private let catalog: TopicCatalog
  private let cluster = ClusterDescription(clusterID: "abc", brokerCount: 3)

  init() throws {
    catalog = try TopicCatalog.load(directory: Project.path("topics"), prefix: "", lanes: 12)
  }

  private func survey(_ present: [TopicDescription], on cluster: ClusterDescription? = nil) -> TopicsSurvey {
    TopicsSurvey(catalog: catalog, present: present, cluster: cluster ?? self.cluster, durability: .strict)
  }

  private func asDeclared() -> [TopicDescription] {
    catalog.topics.map {
      TopicDescription(
        name: $0.topic, partitionCount: $0.lanes, replicationFactor: $0.replication, settings: $0.settings)
    }
  }

  @Test("an empty cluster gets every topic")
  func empty() throws {
    let survey = survey([])
    #expect(survey.changes.count == catalog.topics.count)
    #expect(survey.status == .success && survey.objection == nil)
    let first = try JSONObject(parsing: Array(try #require(survey.jsonLines.first).utf8))
    #expect(first.string("action") == "create" && first.integer("replication") == 3)
  }

  @Test("a cluster as declared needs no changes")
  func upToDate() {
    let survey = survey(asDeclared())
    #expect(survey.changes.isEmpty && survey.status == .success)
    #expect(survey.plan.isUpToDate)
  }

  @Test("the partition count of a topic with keys never changes: the plan refuses the step and the command fails")
  func keyed() throws {
    var present = asDeclared()
    let index = try #require(present.firstIndex { $0.name == "appstore.notifications.refunds" })
    present[index].partitionCount = 6
    let survey = survey(present)
    #expect(survey.changes.isEmpty)
    #expect(survey.status == .failure)
    #expect(survey.plan.table().contains("keys would change partition"))
  }

  @Test("a different setting is altered, and the plan shows the old and the new value")
  func setting() throws {
    var present = asDeclared()
    let index = try #require(present.firstIndex { $0.name == "appstore.notifications.refunds" })
    present[index].settings?["retention.ms"] = "1"
    let survey = survey(present)
    #expect(survey.changes.count == 1 && survey.status == .success)
    let line = try #require(survey.jsonLines.first { $0.contains("\"alter\"") })
    let change = try JSONObject(parsing: Array(line.utf8)).object("settings")?.object("retention.ms")
    #expect(change?.string("from") == "1" && change?.string("to") == "2592000000")
  }

  @Test("the plan shows undeclared settings, and refuses them if they weaken a guarantee")
  func undeclared() throws {
    var present = asDeclared()
    let index = try #require(present.firstIndex { $0.name == "appstore.notifications.refunds" })
    present[index].settings?["retention.bytes"] = "1000"
    present[index].overrides = ["retention.bytes", "retention.ms"]
    let refused = survey(present)
    #expect(refused.status == .failure && refused.changes.isEmpty)
    #expect(refused.plan.table().contains("retention.bytes=1000"))
    present[index].settings?["retention.bytes"] = "-1"
    let shown = survey(present)
    #expect(shown.status == .success && shown.changes.isEmpty && !shown.plan.isUpToDate)
    #expect(shown.plan.summary.hasSuffix("1 with settings that no file declares."))
    let line = try #require(shown.jsonLines.first { $0.contains("\"undeclared\"") })
    #expect(
      try JSONObject(parsing: Array(line.utf8)).object("settings")?.string("retention.bytes") == "-1")
  }

  @Test("an embedded cluster cannot be changed, which is an error only if topics differ")
  func embedded() {
    let cluster = ClusterDescription(clusterID: "mockCluster1", brokerCount: 3)
    #expect(survey([], on: cluster).objection?.remedy.contains("embedded-cluster") == true)
    let upToDate = survey(asDeclared(), on: cluster)
    #expect(upToDate.objection == nil && upToDate.status == .success)
  }
}
