import AppStore
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct TopicCatalogTests {
  private static let sink = """
    name: all
    description: Everything.
    keyed: true
    replication: 3
    promise: true
    settings: {min.insync.replicas: 2, unclean.leader.election.enable: false}
    notifications: {unrecognized: true}
    """

  private static func catalog(_ texts: String...) throws(MillraceError) -> TopicCatalog {
    let files = texts.enumerated().map { (file: "\($0.offset).yaml", text: $0.element) }
    return try TopicCatalog(files: files, prefix: "eu.", lanes: 6)
  }

  @Test func `A file declares a topic, and the configuration adds the prefix and the lanes`() throws {
    let catalog = try Self.catalog(Self.sink)
    let topic = try #require(catalog.topic(named: "all"))
    #expect(topic.topic == "eu.all")
    #expect(topic.lanes == 6)
    #expect(topic.replication == 3)
    #expect(topic.settings["min.insync.replicas"] == "2")
    #expect(catalog.router.unrecognized == "eu.all")
  }

  @Test func `Lanes in the file override the configuration`() throws {
    let catalog = try Self.catalog(Self.sink + "\nlanes: 3\n")
    #expect(catalog.topic(named: "all")?.lanes == 3)
  }

  private static func variant(_ line: String, instead: String) -> String {
    sink.split(separator: "\n").map { $0.hasPrefix(line) ? instead : String($0) }.joined(separator: "\n")
  }

  private static let wrong: [(text: String, hint: String)] = [
    (variant("name", instead: ""), "`name` is missing"),
    (variant("keyed", instead: ""), "`keyed` is missing"),
    (variant("description", instead: ""), "`description` is missing"),
    (variant("name", instead: "name: a b"), "letters, digits"),
    (variant("name", instead: "name: .."), "letters, digits"),
    (variant("keyed", instead: "keyd: true"), "did you mean `keyed`"),
    (variant("replication", instead: "replication: 0"), "1 to 32"),
    (variant("replication", instead: "replication: 2"), "losing one broker stops writes"),
    (
      variant("settings", instead: "settings: {min.insync.replicas: 1, unclean.leader.election.enable: false}"),
      "one replica"
    ),
    (variant("settings", instead: "settings: {min.insync.replicas: 2}"), "unclean.leader.election.enable"),
    (variant("settings", instead: "settings: {min.insync.replica: 2}"), "perhaps min.insync.replicas"),
    (variant("settings", instead: "settings: {retention.ms: 7d}"), "whole number of at least -1 for retention.ms"),
    (variant("settings", instead: "settings: {cleanup.policy: keep}"), "delete or compact"),
    (variant("notifications", instead: "notifications: {unrecognized: true, v2: [DID_RENEWED]}"), "types that Apple"),
    (variant("notifications", instead: "notifications: {unrecognized: true, v3: []}"), "notifications.v"),
    (variant("notifications", instead: "notifications: {v2: [TEST]}"), "no topic takes unrecognized"),
    (variant("notifications", instead: "notifications: {unrecognized: true, v2: [TEST, TEST]}"), "twice"),
    ("- a\n", "is a list"), ("", "missing"),
  ]

  @Test(arguments: wrong)
  func `The error for an invalid file names the problem`(text: String, hint: String) throws {
    let error = #expect(throws: MillraceError.self) { try Self.catalog(text) }
    let problems = try #require(error)
    #expect(problems.area == .topics)
    #expect(problems.problems.contains { $0.description.contains(hint) }, "\(problems)")
    #expect(problems.problems.allSatisfy { $0.place != nil })
  }

  @Test(arguments: [
    ("notifications: {v2: [TEST]}", "notifications: {v2: [TEST]}", "v2 TEST is also in"),
    ("notifications: {v1: [REFUND]}", "notifications: {v1: [REFUND]}", "v1 REFUND is also in"),
    ("notifications: {unrecognized: true}", "", "unrecognized is also in"),
  ])
  func `The error names a type that two files claim`(one: String, other: String, hint: String) {
    let a = Self.variant("notifications", instead: one).replacing("name: all", with: "name: a")
    let b = Self.variant("notifications", instead: other).replacing("name: all", with: "name: b")
    let error = #expect(throws: MillraceError.self) { try Self.catalog(Self.sink, a, b) }
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }

  @Test func `A type can go to different topics by version`() throws {
    let a = Self.variant("notifications", instead: "notifications: {v2: [REFUND]}").replacing(
      "name: all", with: "name: a")
    let b = Self.variant("notifications", instead: "notifications: {v1: [REFUND]}").replacing(
      "name: all", with: "name: b")
    let router = try Self.catalog(Self.sink, a, b).router
    #expect(router.topic(for: NotificationTypeV2.refund) == "eu.a")
    #expect(router.topic(for: NotificationTypeV1.refund) == "eu.b")
  }

  @Test func `Two files with the same topic name are refused`() {
    #expect(throws: MillraceError.self) { try Self.catalog(Self.sink, Self.sink) }
  }

  @Test func `The error for a directory without files names it`() throws {
    let directory = try TemporaryDirectory()
    let error = #expect(throws: MillraceError.self) {
      try TopicCatalog.load(directory: directory.path, prefix: "", lanes: 1)
    }
    #expect(error?.problems.first?.place == directory.path)
  }
}
