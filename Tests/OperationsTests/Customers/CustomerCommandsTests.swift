// Tests the commands about customers and `listen` on a real Kafka, as processes.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import TestEnvironment
import Testing

@testable import Operations

@Suite(
  .enabled(if: RealCluster.isNamed, "needs a Kafka cluster in KAFKA_BOOTSTRAP_SERVERS"), .timeLimit(.minutes(15)))
struct CustomerCommandsTests {
  private let prefix = "\(SharedCluster.uniqueName())."
  private let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  /// A deployment whose refunds worker has not run, with one customer.
  private func deployed() async throws -> (config: String, key: String, notification: String) {
    var configuration = MillraceConfiguration()
    configuration.topics.directory = Project.path("topics")
    (configuration.topics.prefix, configuration.topics.lanes) = (prefix, 2)
    for name in ["refunds", "subscriptions"] { configuration.workers[name] = WorkerEntry() }
    let catalog = try TopicCatalog.load(configuration)
    let topics = TopicsOperation(RealCluster.configuration, catalog: catalog, durability: .relaxed)
    #expect(try await topics.apply(try await topics.survey()) { _ in } == [])
    var notification = try await fixture.record(v2: fixture.sample(.refund)).producerRecord
    notification.topic = prefix + notification.topic
    let view = RecordView(notification.read())
    let (key, id) = (try #require(view.originalTransactionId), try #require(view.id))
    let until = (MillraceClock.system.wallTime + .seconds(3_600)).rfc3339
    let row: JSONObject = [
      "originalTransactionId": .string(key), "status": "active", "entitledUntil": .string(until),
      "appAccountToken": .string(token), "transactionId": "2000000999999999",
    ]
    let delayed = ProducerRecord(
      topic: prefix + "millrace.refunds.retry.10s", key: notification.key, value: notification.value,
      headers: notification.headers + [
        RecordHeader("millrace-attempt", "1"),
        RecordHeader("millrace-cause", "2026-01-01T00:00:00Z timeout: no answer"),
      ])
    let log = try await KafkaLog.connect(RealCluster.configuration, timeout: .seconds(30))
    try await log.append([
      notification, delayed,
      ProducerRecord(topic: prefix + "appstore.subscriptions", key: Array(key.utf8), value: row.serialized()),
    ])
    let file = fixture.directory.appendingPathComponent("customers.yaml").path
    try """
    kafka: { bootstrapServers: "\(RealCluster.servers)", durability: relaxed }
    topics: { prefix: "\(prefix)", directory: \(Project.path("topics")), lanes: 2 }
    workers: { refunds: {}, subscriptions: {} }
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return (file, key, id)
  }

  @Test func `a customer is found by every id, and the timeline says what did not happen`() async throws {
    let (config, key, notification) = try await deployed()
    for id in [key, token, "2000000999999999", notification] {
      let shown = try await CommandProcess.run(["subscriptions", "show", id, "--no-json", "--config", config])
      #expect(shown.status == 0 && shown.out.hasPrefix("entitled"), "\(id): \(shown.err)")
      #expect(shown.out.contains("yes, until ") && shown.out.contains(key), "\(id): \(shown.out)")
    }
    let json = try await CommandProcess.run(["subscriptions", "show", token, "--config", config])
    #expect(try JSONObject(parsing: Array(json.out.utf8))["entitled"] == true, "\(json.out)")
    let unknown = try await CommandProcess.run(["subscriptions", "show", "1", "--config", config])
    #expect(unknown.status == 1 && unknown.err.contains("no subscription or purchase 1"), "\(unknown.err)")

    let timeline = try await CommandProcess.run(["timeline", notification, "--config", config])
    let entries = try timeline.out.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    let kinds = entries.compactMap { $0.string("kind") }
    #expect(kinds.first == "state" && kinds.sorted() == ["delayed", "notification", "state"], "\(timeline.out)")
    #expect(entries.first?["entitled"] == true && entries.first?.string("key") == key)
    let because = entries.first { $0.string("kind") == "delayed" }?.object("facts")?["because"]
    #expect(because == .array(["2026-01-01T00:00:00Z timeout: no answer"]), "\(timeline.out)")
    #expect(!timeline.out.contains("signedTransactionInfo") && !timeline.out.contains("purchaseDate"))
    let text = try await CommandProcess.run(
      ["timeline", key, "--no-json", "--payload", "--since", "1d", "--config", config])
    #expect(text.status == 0 && text.out.contains("purchaseDate") && text.out.contains("REFUND"), "\(text.err)")
  }

  @Test func `a purchase without a row and a body of the quarantine have their own answers`() async throws {
    let (config, key, _) = try await deployed()
    var notification = try await fixture.record(v2: fixture.sample(.oneTimeCharge, seed: 2)).producerRecord
    notification.topic = prefix + notification.topic
    let own = try #require(RecordView(notification.read()).originalTransactionId)
    let body = QuarantineRecord(
      value: try fixture.sample(.refund, seed: 3).jws, version: .v2, reason: .chain, receivedAt: Fixture.signedDate
    ).producerRecord(topic: prefix + QuarantineRecord.topic)
    let claims = try #require(QuarantineEntry(body.read())).claims
    let (id, claimed) = (try #require(claims.notificationID), try #require(claims.originalTransactionID))
    #expect(Set([key, own, claimed]).count == 3)
    try await KafkaLog.connect(RealCluster.configuration, timeout: .seconds(30)).append([notification, body])
    let shown = try await CommandProcess.run(["subscriptions", "show", own, "--config", config])
    #expect(
      shown.status == 1
        && shown.err.contains("\(own) has no row: no worker has written it yet, or it is a consumable without a refund")
    )
    #expect(!shown.err.contains("no subscription or purchase"), "\(shown.err)")
    for wanted in [id, claimed] {
      let shown = try await CommandProcess.run(["subscriptions", "show", wanted, "--config", config])
      #expect(shown.err.contains("Only the quarantine names \(wanted)"), "\(shown.err)")
      let timeline = try await CommandProcess.run(["timeline", wanted, "--no-json", "--config", config])
      #expect(timeline.out.contains("1 body of the quarantine claims it, unverified: "), "\(timeline.out)")
      #expect(timeline.out.contains(claimed), "\(timeline.out)")
    }
    let listed = try await CommandProcess.run(["quarantine", "list", "--config", config])
    #expect(try JSONObject(parsing: Array(listed.out.utf8)).object("claims")?.string("notificationId") == id)
    let timeline = try await CommandProcess.run(["timeline", "\(key),", "--config", config])
    #expect(timeline.status == 0 && !timeline.out.contains("quarantined"), "\(timeline.err)")
  }

  @Test func `listen reads a worker's topics since a time, by type, and prints payloads on request`() async throws {
    let (config, key, _) = try await deployed()
    let own = ["listen", "--worker", "refunds", "--since", "1d", "--limit", "1", "--config", config]
    let delayed = try await CommandProcess.run(own)
    let record = try JSONObject(parsing: Array(delayed.out.utf8))
    #expect(delayed.out.hasPrefix("{\"type\":\"REFUND\""), "\(delayed.out)")
    #expect(record.string("worker") == "refunds" && record.string("reason")?.contains("timeout") == true)
    #expect(record["payload"] == nil && record.string("key") == key)
    let whole = try await CommandProcess.run(own + ["--payload"])
    #expect(try JSONObject(parsing: Array(whole.out.utf8))["payload"] != nil)
    let row = try await CommandProcess.run([
      "listen", "--all", "--key", key, "--from", "earliest", "--limit", "3", "--config", config,
    ])
    #expect(row.out.contains("\"status\":\"active\"") && row.out.split(separator: "\n").count == 3, "\(row.out)")
  }
}
