// Tests the committed topic files, which are part of the product.

import AppStore
import Foundation
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct CommittedTopicsTests {
  private static func catalog() throws(MillraceError) -> TopicCatalog {
    try TopicCatalog.load(directory: "\(Project.root)/topics", prefix: "", lanes: 12)
  }

  @Test func `Every program has the committed files`() throws {
    let worker = TopicCatalog.Worker(name: "winback", retryDelays: [.seconds(10), .seconds(3_600)])
    let builtIn = try TopicCatalog.load(directory: nil, prefix: "x.", lanes: 6, workers: [worker])
    let committed = try TopicCatalog.load(
      directory: "\(Project.root)/topics/", prefix: "x.", lanes: 6, workers: [worker])
    #expect(builtIn == committed)
  }

  @Test func `The ten families, the tables, the quarantine and the shared topics are declared`() throws {
    let families = [
      "subscriptions", "purchases", "refunds", "renewal-extensions", "consumption-requests", "external-purchases",
      "advanced-commerce", "consent", "tests", "unrecognized",
    ]
    let expected =
      families.map { "appstore.notifications.\($0)" }
      + [
        "appstore.consumption-answers", "appstore.decoded.notifications", "appstore.decoded.transactions",
        "appstore.entitlements", "appstore.purchases", "appstore.subscriptions", "appstore.transactions.refunds",
        "millrace.audit", "millrace.backfills", "millrace.campaigns", "millrace.control", "millrace.ingress",
        "millrace.operations",
        "millrace.quarantine", "millrace.refund-checks", "millrace.subscription-imports",
      ]
    #expect(try Self.catalog().topics.map(\.name) == expected.sorted())
  }

  @Test func `A worker has retry topics, a replay topic, dead letters, a ledger and events`() throws {
    let catalog = try TopicCatalog.load(
      directory: "\(Project.root)/topics", prefix: "x.", lanes: 6,
      workers: [.init(name: "winback", retryDelays: [.seconds(10), .seconds(3_600)])])
    let own = ["retry.10s", "retry.1h", "replay", "dead-letters", "ledger"].map { "x.millrace.winback.\($0)" }
    let names = Set(catalog.topics.map(\.topic))
    #expect(names.isSuperset(of: own + ["x.appstore.events.winback"]))
    #expect(catalog.topics.filter { own.contains($0.topic) }.allSatisfy { $0.lanes == 6 && $0.keyed && $0.promise })
  }

  @Test func `No documented type of either version goes to the topic for unrecognized types`() throws {
    let router = try Self.catalog().router
    for type in NotificationTypeV2.allKnown { #expect(router.topic(for: type) != router.unrecognized, "v2 \(type)") }
    for type in NotificationTypeV1.allKnown { #expect(router.topic(for: type) != router.unrecognized, "v1 \(type)") }
    #expect(NotificationTypeV2.allKnown.count == 23)
    #expect(NotificationTypeV1.allKnown.count == 13)
  }

  @Test(arguments: [
    (NotificationTypeV2.didRenew, "subscriptions"), (.oneTimeCharge, "purchases"), (.revoke, "refunds"),
    (.renewalExtension, "renewal-extensions"), (.consumptionRequest, "consumption-requests"),
    (.externalPurchaseToken, "external-purchases"), (.priceChange, "advanced-commerce"),
    (.priceIncrease, "subscriptions"),
    (.rescindConsent, "consent"), (.test, "tests"), (NotificationTypeV2(rawValue: "NEW_TYPE"), "unrecognized"),
  ])
  func `Version 2 types go to their family`(type: NotificationTypeV2, family: String) throws {
    #expect(try Self.catalog().router.topic(for: type) == "appstore.notifications.\(family)")
  }

  @Test(arguments: [
    (NotificationTypeV1.cancel, "refunds"), (.refund, "refunds"), (.revoke, "refunds"), (.initialBuy, "subscriptions"),
    (.consumptionRequest, "consumption-requests"), (NotificationTypeV1(rawValue: "NEW_TYPE"), "unrecognized"),
  ])
  func `Version 1 types go to their family`(type: NotificationTypeV1, family: String) throws {
    #expect(try Self.catalog().router.topic(for: type) == "appstore.notifications.\(family)")
  }

  @Test func `A notification without a type goes to the topic for unrecognized types`() throws {
    let router = try Self.catalog().router
    #expect(router.topic(for: nil as NotificationTypeV2?) == "appstore.notifications.unrecognized")
    #expect(router.topic(for: nil as NotificationTypeV1?) == "appstore.notifications.unrecognized")
  }

  @Test func `Notification topics are keyed, hold a promise and accept records of 4 MiB`() throws {
    for topic in try Self.catalog().notificationTopics {
      #expect(topic.keyed && topic.promise && topic.replication == 3, "\(topic.name)")
      #expect(topic.settings["max.message.bytes"] == "4194304", "\(topic.name)")
      #expect(topic.minimumInsyncReplicas == 2, "\(topic.name)")
      #expect(topic.lanes == 12, "\(topic.name)")
    }
  }

  @Test func `The default configuration with all workers of this project has at most 350 partitions`() throws {
    var configuration = MillraceConfiguration()
    for name in ["subscriptions", "refunds", "renewal-extensions", "consumption", "decoder", "forward-old"] {
      configuration.workers[name] = WorkerEntry()
    }
    let partitions = try TopicCatalog.load(configuration).topics.reduce(0) { $0 + $1.lanes }
    #expect(partitions <= 350, "\(partitions)")
  }

  @Test func `The quarantine is bounded`() throws {
    let quarantine = try #require(try Self.catalog().topic(named: "millrace.quarantine"))
    #expect(Int(quarantine.settings["retention.bytes"] ?? "") ?? -1 > 0)
    #expect(Int(quarantine.settings["retention.ms"] ?? "") ?? -1 > 0)
    #expect(quarantine.lanes == QuarantineRecord.Partition.allCases.count)
    #expect(!quarantine.keyed && !quarantine.promise)
  }

  /// Editors and CI use the schema, processes use the loader. Both must accept the same files.
  @Test func `Schema and loader know the same keys, settings and types`() throws {
    let path = "\(Project.root)/topics/schemas/topic.schema.json"
    let schema = try JSONObject(parsing: try Files.read(path))
    func properties(_ path: String...) -> JSONObject? {
      var object: JSONObject? = schema
      for key in path {
        guard case .object(let next)? = object?[key] else { return nil }
        object = next
      }
      return object
    }
    let top = try #require(properties("properties"))
    let nested = try #require(properties("properties", "notifications", "properties"))
    let keys =
      top.members.map(\.key).filter { $0 != "notifications" } + nested.members.map { "notifications.\($0.key)" }
    #expect(Set(keys) == Set(TopicFile.table.names))
    let settings = try #require(properties("properties", "settings", "properties"))
    #expect(Set(settings.members.map(\.key)) == Set(TopicSettingKind.all.keys))
    for (version, known) in [
      ("v2", NotificationTypeV2.allKnown.map(\.rawValue)), ("v1", NotificationTypeV1.allKnown.map(\.rawValue)),
    ] {
      let items = try #require(properties("properties", "notifications", "properties", version, "items"))
      #expect(items["enum"] == .array(known.sorted().map { .string($0) }))
    }
  }

  @Test func `Every property of the schema has a description, and no object is open`() throws {
    let path = "\(Project.root)/topics/schemas/topic.schema.json"
    guard case .object(let schema) = try JSON(parsing: try Files.read(path)) else {
      Issue.record("the schema is not an object")
      return
    }
    var open: [String] = []
    func walk(_ schema: JSONObject, _ place: String) {
      guard case .object(let properties)? = schema["properties"] else { return }
      if schema["additionalProperties"] != .bool(false) { open.append("\(place) is open") }
      for member in properties.members {
        guard case .object(let property) = member.value else { continue }
        if property["description"] == nil { open.append("\(place).\(member.key) has no description") }
        walk(property, "\(place).\(member.key)")
      }
    }
    walk(schema, "$")
    #expect(open.isEmpty, "\(open)")
  }
}
