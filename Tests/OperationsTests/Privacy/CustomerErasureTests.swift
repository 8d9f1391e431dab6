// Tests the erasure of a customer from the command's side, with the real runtime on an in-memory log.

import AppStore
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
import MillraceWorker
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import Operations

/// Keeps the id of the last notification of each customer.
private struct Keeper: NotificationWorker {
  static let name = "keeper"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    .done(.keeping("last/\(notification.key)", Array(notification.id.utf8)))
  }
}

@Suite(.timeLimit(.minutes(15))) struct CustomerErasureTests {
  @Test func `a customer is found by token and erased, and backfill and import know it`() async throws {
    let keyFile = FileManager.default.temporaryDirectory.appending(path: "erasure-\(UUID().uuidString)")
    try "a secret of at least 32 bytes, really\n".write(to: keyFile, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: keyFile) }
    var setup = WorkerHarness.Setup()
    setup.configuration.topics.directory = Project.path("topics")
    setup.configuration.workers[Keeper.name] = WorkerEntry()
    setup.configuration.privacy.keyFile = keyFile.path
    let configuration = setup.configuration
    try await WorkerHarness.run(Keeper.self, setup) { harness in
      let (customer, other) = (try await harness.receive(.didRenew), try await harness.receive(.didRenew))
      try #require(customer.key != other.key)
      guard case .v2(_, let inner) = RecordPayload(customer.bytes) else {
        Issue.record("no token")
        return
      }
      let token = try #require(inner.transaction?.appAccountToken)
      let erasure = try await CustomerErasure(configuration, on: harness.log, author: "ann")
      #expect(erasure.workerNames == [Keeper.name])
      #expect(try await erasure.transactions(of: token.uppercased()) { _ in } == [customer.key])
      #expect(try await erasure.transactions(of: UUID().uuidString) { _ in }.isEmpty)

      let results = try await erasure.erase(
        [customer.key], why: "a request", patience: .seconds(120), report: { _ in })
      #expect(results.map(\.worker) == [Keeper.name] && results.map(\.summary.sentence) == ["1 erased."])
      try await harness.settle()
      #expect(try await harness.events().map(\.name) == ["customer.erased"])

      let marks = try await ErasedCustomers(configuration, on: harness.log).current()
      let key = Array(customer.key.utf8)
      #expect(marks.include(key, signed: harness.clock.wallTime) && marks.include(key, signed: nil))
      #expect(!marks.include(key, signed: Timestamp(millisecondsSince1970: .max / 4)))
      #expect(!marks.include(Array(other.key.utf8), signed: nil))
      // Without the secret nothing is published, rather than everything.
      var without = configuration
      without.privacy.keyFile = nil
      let blind = try ErasedCustomers(without, on: harness.log)
      await #expect(throws: MillraceError.self) { try await blind.current() }

      for topic in [harness.topics.operations, harness.topics.audit] {
        let texts = harness.log.records(in: topic).map {
          String(decoding: ($0.key ?? []) + ($0.value ?? []), as: UTF8.self)
        }
        #expect(!texts.isEmpty && !texts.contains { $0.contains(customer.key) }, "\(topic)")
      }
    }
  }

  @Test func `what remains is grouped, with the time of the last deletion`() {
    func topic(_ name: String, _ settings: [String: String]) -> TopicDescription {
      TopicDescription(name: "eu." + name, partitionCount: 1, replicationFactor: 1, settings: settings)
    }
    let topics = [
      topic("appstore.notifications.refunds", ["cleanup.policy": "delete", "retention.ms": "1000"]),
      topic("appstore.notifications.subscriptions", ["cleanup.policy": "delete", "retention.ms": "3000"]),
      topic("appstore.subscriptions", ["cleanup.policy": "compact", "retention.ms": "1000"]),
      topic("millrace.subscription-imports", ["cleanup.policy": "delete", "retention.ms": "2000"]),
      topic("millrace.w.dead-letters", ["cleanup.policy": "delete", "retention.ms": "-1"]),
      topic("millrace.audit", ["cleanup.policy": "delete", "retention.ms": "1000"]),
    ]
    let names = Dictionary(uniqueKeysWithValues: topics.map { ($0.name, String($0.name.dropFirst(3))) })
    let now = Timestamp(millisecondsSince1970: 0)
    let copies = RemainingCopies.all(topics, named: names, now: now)
    #expect(copies.map(\.topics.count) == [2, 1, 1, 1])
    #expect(copies.map(\.until) == [now + .seconds(3), nil, now + .seconds(2), nil])
    #expect(copies.map(\.isCompacted) == [false, false, false, true])
  }

  @Test func `compaction is promised only for topics to which an erasure writes`() throws {
    var configuration = MillraceConfiguration()
    configuration.topics.directory = Project.path("topics")
    configuration.workers[Keeper.name] = WorkerEntry()
    let topics = try TopicCatalog.load(configuration).topics
    // The tables of Millrace's workers, for which docs/privacy.md promises a record without a value, and ledgers.
    let isErased: (String) -> Bool = {
      ["appstore.subscriptions", "appstore.purchases", "appstore.entitlements"].contains($0) || $0.hasSuffix(".ledger")
    }
    let present = topics.map {
      TopicDescription(name: $0.topic, partitionCount: 1, replicationFactor: 1, settings: $0.settings)
    }
    let names = Dictionary(topics.map { ($0.topic, $0.name) }) { first, _ in first }
    let copies = RemainingCopies.all(present, named: names, now: Timestamp(millisecondsSince1970: 0))
    let promised = copies.filter(\.isCompacted).flatMap(\.topics).map { names[$0] ?? "" }
    #expect(!promised.isEmpty && promised.allSatisfy(isErased), "\(promised)")
    for topic in ["appstore.consumption-answers", "millrace.refund-checks"] {
      let copy = try #require(copies.first { $0.topics.map { names[$0] }.contains(topic) })
      #expect(copy.content.contains("not erased") && copy.until == nil && !copy.jsonLine.contains(#""compacted":true"#))
    }
  }
}
