import MillraceCore
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite("The topics of millrace listen")
struct TopicSelectionTests {
  private let catalog: TopicCatalog

  init() throws {
    catalog = try TopicCatalog.load(
      directory: Project.path("topics"), prefix: "x.", lanes: 3)
  }

  @Test("the default is all notification topics and the quarantine")
  func everything() throws {
    let names = try TopicSelection().names(in: catalog)
    #expect(names.count == catalog.notificationTopics.count + 1)
    #expect(names.contains("x.appstore.notifications.unrecognized") && names.contains("x.millrace.quarantine"))
    #expect(names == names.sorted())
  }

  @Test("a family is a topic of this deployment, a topic is a name in Kafka")
  func named() throws {
    let selection = TopicSelection(topics: ["other", "other"], families: ["refunds"])
    #expect(selection.needsCatalog)
    #expect(try selection.names(in: catalog) == ["other", "x.appstore.notifications.refunds"])
    #expect(!TopicSelection(topics: ["other"]).needsCatalog)
    #expect(try TopicSelection(topics: ["other"]).names(in: nil) == ["other"])
  }

  @Test("a worker's topics are those that people can read, and so is everything")
  func workers() throws {
    var configuration = MillraceConfiguration()
    configuration.topics.directory = Project.path("topics")
    configuration.topics.prefix = "x."
    configuration.workers["refunds"] = WorkerEntry()
    let catalog = try TopicCatalog.load(configuration)
    #expect(
      try TopicSelection(workers: ["refunds"]).names(in: catalog) == [
        "x.appstore.events.refunds", "x.millrace.refunds.dead-letters", "x.millrace.refunds.replay",
      ] + catalog.topics.map(\.topic).filter { $0.hasPrefix("x.millrace.refunds.retry.") }.sorted())
    let all = try TopicSelection(isEverything: true).names(in: catalog)
    for name in [
      "appstore.subscriptions", "appstore.entitlements", "appstore.decoded.notifications", "millrace.audit",
      "appstore.events.refunds", "appstore.notifications.refunds", "millrace.quarantine",
      "millrace.refunds.dead-letters",
    ] {
      #expect(all.contains("x." + name), "\(name)")
    }
    #expect(!all.contains { $0.hasSuffix(".ledger") || $0.hasSuffix("millrace.control") })
  }

  @Test("the error for an unknown family lists the known ones")
  func unknownFamily() throws {
    let error = try #require(throws: OperationError.self) {
      try TopicSelection(families: ["refund"]).names(in: catalog)
    }
    #expect(error.kind == .usage && error.place == "--family")
    #expect(error.remedy.contains("refunds"))
  }
}
