// What became of the records of a backfill: the records name the run, the worker's offsets and ledger say the rest.

import AppStore
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceWorker
@testable import Operations

/// Finishes renewals, delays expirations and refuses the rest.
private struct Deciding: NotificationWorker {
  static let name = "deciding"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    switch notification.payload?.notificationType {
    case .didRenew: .ignore
    case .expired: .retry(because: "later", detail: "not yet")
    default: .deadLetter("unwanted", "refused")
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct RunStatusTests {
  private static let topic = "appstore.notifications.subscriptions"
  private static let readers = RunReaders(workers: ["deciding", "other"], notificationTopics: [topic, "absent"])

  private static func record(_ fixture: NotificationFixture, of run: String?) -> ProducerRecord {
    var notification = fixture.record
    notification.event.extensions[AuditRecord.runAttribute] = run
    return notification.producerRecord
  }

  /// Starts a backfill in the audit trail.
  private static func start(_ run: String, in harness: WorkerHarness) async throws {
    try await AuditLog(on: harness.log, prefix: "").append([
      AuditRecord(
        run: run, .backfill, .started(parts: 1), by: "ann", source: "millrace", at: harness.clock.wallTime),
      AuditRecord(
        run: run, .pause, .started(parts: 0), by: "ann", source: "millrace", at: harness.clock.wallTime, target: run),
    ])
  }

  private static func operation(_ harness: WorkerHarness) -> ReplayOperation {
    ReplayOperation(on: harness.log, prefix: "", author: "", recordClock: harness.clock)
  }

  @Test func `a backfill's status says what became of its records, by worker`() async throws {
    try await WorkerHarness.run(Deciding.self) { harness in
      let known = try await harness.receive(.didRenew)
      let refused = try await harness.receive(.gracePeriodExpired)
      try await harness.advance(by: .seconds(120))
      try await Self.start("r1", in: harness)
      for fixture in [known, refused] { try await harness.receive(Self.record(fixture, of: "r1")) }
      for type in [NotificationTypeV2.didRenew, .didRenew, .expired, .gracePeriodExpired] {
        let fixture = try await harness.receive(type)
        // The harness wrote it without the run, as Apple's post during the run; the run's copy comes second.
        try await harness.receive(Self.record(fixture, of: "r1"))
        try await harness.receive(Self.record(fixture, of: "r2"))
      }
      // A copy that the run wrote twice counts once.
      try await harness.receive(Self.record(known, of: "r1"))

      let status = try await Self.operation(harness).status(of: "r1", among: Self.readers)
      let expected: JSONObject = [
        "records": 6, "skipped": 2, "unchanged": 0, "superseded": 0, "new": 2, "deadLetters": 1, "waiting": 1,
      ]
      #expect(status.counts == [.init(worker: "deciding", json: expected)])
      #expect(
        status.outcome == nil && status.jsonLine.contains(#""outcomes":{"deciding":{"records":6,"#),
        "\(status.jsonLine)")
      #expect(status.counts.first?.sentence == "deciding: 6 records, 2 skipped, 2 new, 1 dead letters, 1 waiting")
      #expect(status.lines(usesColor: false).contains { $0.hasPrefix("worker") && $0.hasSuffix("deciding") })
    }
  }

  @Test func `records that the worker has not read wait, and those that its ledger does not know have no outcome`()
    async throws
  {
    try await WorkerHarness.run(Deciding.self) { harness in
      try await Self.start("r1", in: harness)
      let topic = "appstore.notifications.refunds"
      try harness.log.createTopic(topic, partitions: 1)
      let readers = RunReaders(workers: ["deciding"], notificationTopics: [topic])
      for id in ["a", "b", "c"] {
        try harness.log.append(
          ProducerRecord(
            topic: topic, key: [1], value: [1],
            headers: [RecordHeader("ce_id", id), RecordHeader(AuditRecord.runHeader, "r1")]))
      }
      let status = { try await Self.operation(harness).status(of: "r1", among: readers) }
      // A worker without a committed offset in the topic does not read it.
      #expect(try await status().counts == [])
      harness.log.resetOffsets(of: harness.topics.group, to: [TopicPartition(topic: topic, partition: 0): 2])
      let json = try #require(try await status().counts.first?.json)
      #expect(json["records"] == 3 && json["unknown"] == 2 && json["waiting"] == 1 && json["events"] == nil)
      let operation = Self.operation(harness)
      for (limit, isCounted) in [(3, true), (2, false)] {
        let counts = try await operation.counts(
          of: "r1", .backfill, since: Timestamp(millisecondsSince1970: 0), among: readers, limit: limit)
        #expect((counts != nil) == isCounted, "a limit of \(limit)")
      }
    }
  }
}
