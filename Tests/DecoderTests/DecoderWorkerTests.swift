import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceWorker
import Synchronization
import TestEnvironment
import TestSupport
import Testing

@testable import Decoder

@Suite(.timeLimit(.minutes(5))) struct DecoderWorkerTests {
  private static let (notifications, transactions) = (DecoderWorker.notificationsTopic, DecoderWorker.transactionsTopic)

  private func rows(_ harness: WorkerHarness, _ topic: String) async throws -> [(ConsumerRecord, JSONObject)] {
    try await harness.records(in: topic).map { ($0, try JSONObject(parsing: $0.value ?? [])) }
  }

  /// A text that every token of a test contains: the beginning of its header.
  private func containsToken(_ record: ConsumerRecord) -> Bool {
    String(decoding: record.value ?? [], as: UTF8.self).contains("eyJ")
  }

  @Test func `every kind of notification has a flat row that fits the schema, and a row for each token`() async throws {
    let (notificationSchema, tokenSchema) = (
      try SchemaCheck(Self.notifications), try SchemaCheck(Self.transactions)
    )
    try await WorkerHarness.run(DecoderWorker.self) { harness in
      var fixtures: [NotificationFixture] = []
      for kind in SampleKind.all { fixtures.append(try await harness.receive(kind.type, kind.subtype)) }
      let rows = try await rows(harness, Self.notifications)
      #expect(rows.map { $0.1["notificationUUID"] }.count == fixtures.count)
      #expect(Set(rows.map { $0.1["notificationUUID"] }) == Set(fixtures.map { .string($0.id) }))
      for (record, row) in rows {
        #expect(notificationSchema.problems(.object(row)).isEmpty && !containsToken(record))
        #expect(row["verified"] == true && row["otherFields"] == nil)
        #expect(row.members.allSatisfy { ![.object, .array].contains($0.value.kind) })
      }
      let tokens = try await self.rows(harness, Self.transactions)
      for (record, row) in tokens {
        #expect(tokenSchema.problems(.object(row)).isEmpty && !containsToken(record))
        #expect(row["verified"] == true && row["otherFields"] == nil)
      }
      let kinds = Dictionary(grouping: tokens) { $0.1["kind"] }.mapValues(\.count)
      #expect(kinds["transaction"]! > 20 && kinds["renewal-info"]! > 15 && kinds["app-transaction"] == 1)
      // Keys and lanes are those of the notifications.
      let keys = Dictionary(fixtures.map { ($0.id, $0.key) }) { first, _ in first }
      for (record, row) in rows + tokens {
        guard case .string(let id)? = row["notificationUUID"] else { continue }
        #expect(record.key == keys[id].map { Array($0.utf8) })
        #expect(record.header("ce_id") == id)
      }
    }
  }

  @Test func `a renewal has product, price and times as columns`() async throws {
    try await WorkerHarness.run(DecoderWorker.self) { harness in
      let fixture = try await harness.receive(.didRenew)
      let (record, row) = try #require(try await rows(harness, Self.notifications).first)
      #expect(row["notificationType"] == "DID_RENEW" && row["status"] == 1 && row["environment"] != nil)
      #expect(row["originalTransactionId"] == .string(fixture.key))
      #expect(record.header("ce_type") == "dev.millrace.decoded.notification")
      let tokens = try await self.rows(harness, Self.transactions).map(\.1)
      #expect(tokens.map { $0["kind"] } == ["transaction", "renewal-info"])
      let transaction = try #require(tokens.first)
      #expect(transaction["productId"] == row["productId"] && transaction["price"]?.kind == .integer)
      guard case .string(let date)? = transaction["purchaseDate"] else { return #expect(Bool(false)) }
      #expect(Timestamp(rfc3339: date) != nil)
    }
  }

  @Test func `a field that Apple adds is in otherFields, without the tokens in it`() async throws {
    try await WorkerHarness.run(DecoderWorker.self) { harness in
      try await harness.receive(.didRenew) { draft in
        draft.transaction?["newField"] = ["a": [1, "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"], "b": "text"]
        draft.transaction?["newToken"] = "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"
        // A documented field of another type is left out.
        draft.transaction?["price"] = "9.99"
      }
      let row = try #require(try await rows(harness, Self.transactions).first).1
      #expect(row["otherFields"] == #"{"newField":{"a":[1],"b":"text"}}"#)
      #expect(row["price"] == nil)
    }
  }

  @Test func `a version 1 notification is marked as not verified, and shows neither receipt nor password`() async throws
  {
    let (schema, stage) = (try SchemaCheck(Self.notifications), NotificationFamily.subscriptions.topic)
    try await WorkerHarness.run(DecoderWorker.self) { harness in
      var fixtures = try NotificationFixtures(seed: 1)
      let fixture = try fixtures.nextV1(.didRenew, to: stage)
      try await harness.receive(fixture.producerRecord)
      let row = try #require(try await rows(harness, Self.notifications).first).1
      #expect(schema.problems(.object(row)).isEmpty)
      #expect(row["verified"] == false && row["version"] == "1.0" && row["notificationType"] == "DID_RENEW")
      #expect(row["notificationUUID"] == .string(fixture.id) && row["originalTransactionId"] == .string(fixture.key))
      #expect(row.members.count <= 9)
      #expect(try await rows(harness, Self.transactions).isEmpty)
    }
  }

  @Test func `a notification that arrives again has no second row`() async throws {
    try await WorkerHarness.run(DecoderWorker.self) { harness in
      let fixture = try await harness.receive(.expired, .voluntary)
      try await harness.receive(again: fixture)
      #expect(try await rows(harness, Self.notifications).count == 1)
    }
  }

  // MARK: - Schemas

  @Test(arguments: [Self.notifications, Self.transactions])
  func `the schema in topics is the one in the code`(topic: String) throws {
    let schema = topic == Self.notifications ? DecodedSchema.notifications : DecodedSchema.transactions
    let file = "topics/schemas/\(topic).schema.json"
    if ProcessInfo.processInfo.environment["MILLRACE_WRITE_SCHEMAS"] != nil {
      try Data(schema.serialized()).write(to: URL(filePath: Project.path(file)))
    }
    let committed = try Project.json(file)
    #expect(committed == schema, "MILLRACE_WRITE_SCHEMAS=1 swift test --filter DecoderWorkerTests writes the file")
  }

  @Test func `a name has one kind in all objects of a topic`() {
    for columns in [FlatColumns.notification, .token] {
      #expect(Set(columns.columns.map(\.name)).count == columns.columns.count)
      for column in columns.columns {
        #expect(columns.documented[column.name].map { $0 == column.kind } ?? true, "\(column.name)")
      }
    }
  }
}

extension ConsumerRecord {
  fileprivate func header(_ name: String) -> String? {
    headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}
