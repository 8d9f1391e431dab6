import AppStore
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import TestEnvironment
import Testing

@testable import Operations

@Suite struct OpenTransactionTests {
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func record(_ topic: String, _ headers: [RecordHeader], age: Int64 = 725) -> ConsumerRecord {
    ConsumerRecord(
      topic: topic, partition: 3, offset: 40, timestamp: now.millisecondsSince1970 - age * 1_000, key: nil, value: nil,
      headers: headers)
  }

  private func finding(_ record: ConsumerRecord?) -> DoctorFinding {
    var transaction = OpenTransaction(
      partition: TopicPartition(topic: record?.topic ?? "eu.appstore.purchases", partition: 3), offset: 40, end: 42)
    if let record { transaction.describe(by: record, prefix: "eu.") }
    return transaction.finding(at: now, bootstrapServers: "kafka:9092")
  }

  @Test func `a finding names topic, offset, age, producer and the commands`() {
    let source = RecordHeader("ce_source", "millrace/refunds")
    let found = finding(record("eu.appstore.events.refunds", [source]))
    #expect(
      found.check == .transactions && found.severity == .failure && found.subject == "eu.appstore.events.refunds[3]")
    #expect(
      found.what
        == "a transaction of the worker refunds has been open for 12m: readers wait at offset 40, and the topic ends at 42"
    )
    let place = "--topic eu.appstore.events.refunds --partition 3"
    #expect(
      found.remedy
        == "end that program; `kafka-transactions.sh --bootstrap-server kafka:9092 describe-producers \(place)` shows its "
        + "producer. If the program is gone: `kafka-transactions.sh --bootstrap-server kafka:9092 abort \(place) "
        + "--start-offset 40`")
  }

  @Test func `the producer is known from headers, or from a topic to which only one worker writes`() {
    let foreign = [RecordHeader("ce_source", "shop/importer")]
    let table: [(String, [RecordHeader], String)] = [
      ("eu.millrace.winback.retry.1m", foreign, "the worker winback"),
      ("eu.millrace.winback.ledger", [], "the worker winback"),
      ("eu.appstore.notifications.refunds", foreign, "the program shop/importer"),
      ("eu.appstore.notifications.refunds", [], "a program that no header names"),
      ("eu.millrace.operations", [], "a program that no header names"),
    ]
    for (topic, headers, producer) in table {
      #expect(finding(record(topic, headers)).what.hasPrefix("a transaction of \(producer) has been open"), "\(topic)")
    }
    let unread = finding(nil)
    #expect(unread.severity == .failure)
    #expect(
      unread.what.hasPrefix("a transaction of a program whose record cannot be read has been open for an unknown time"))
  }

  @Test func `a transaction that a worker may still end is a warning`() {
    let limits: [(Int64, DoctorFinding.Severity, String)] = [
      (0, .warning, "0s"), (29, .warning, "29s"), (30, .failure, "30s"), (119, .failure, "119s"), (121, .failure, "2m"),
      (-5, .warning, "0s"),
    ]
    for (age, severity, text) in limits {
      let found = finding(record("t", [], age: age))
      #expect(found.severity == severity && found.what.contains("open for \(text):"), "\(found.what)")
    }
  }
}

@Suite(
  .enabled(if: RealCluster.isNamed, "needs transactions: set KAFKA_BOOTSTRAP_SERVERS"), .timeLimit(.minutes(10)))
struct TransactionChecksTests {
  @Test func `an open transaction of another program is found with its first record, until it ends`() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let (blocked, free) = (prefix + "appstore.events.refunds", prefix + "appstore.events.other")
    for topic in [blocked, free] {
      try await KafkaAdmin(RealCluster.configuration).createTopic(
        topic, partitions: 2, replicationFactor: 1, settings: [:], timeout: .seconds(30))
    }
    let checks = TransactionChecks(
      kafka: RealCluster.configuration, prefix: prefix, clock: .system, timeout: .seconds(30))
    func findings() async -> [DoctorFinding] { await checks.findings([(blocked, 2), (free, 2)]) }
    func record(_ topic: String) -> ProducerRecord {
      ProducerRecord(
        topic: topic, partition: 1, key: [1], value: [1], headers: [RecordHeader("ce_source", "millrace/refunds")],
        // A quarter of an hour ago, as if the program had hung since.
        timestamp: MillraceClock.system.wallTime.millisecondsSince1970 - 900_000)
    }
    let log = try await KafkaLog.connect(RealCluster.configuration, timeout: .seconds(30))
    #expect(await findings().map(\.severity) == [.good])
    let stranger = try log.makeTransactionalWriter(id: "\(prefix)stranger", timeout: .seconds(600))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await stranger.run() }
      defer { stranger.shutDown() }
      try await stranger.initialize(timeout: .seconds(60))
      // A transaction that has ended blocks no reader.
      try await stranger.begin()
      _ = try await stranger.send(record(free))
      try await stranger.commit(timeout: .seconds(60))
      #expect(await findings().map(\.severity) == [.good])
      try await log.append([record(blocked)])
      try await stranger.begin()
      let first = try await stranger.send(record(blocked))
      // Records of others wait behind it.
      try await log.append([record(blocked)])
      let found = await findings()
      #expect(found.count == 1)
      #expect(found.first?.severity == .failure && found.first?.subject == "\(blocked)[1]", "\(found)")
      #expect(
        found.first?.what
          == "a transaction of the worker refunds has been open for 15m: readers wait at offset \(first.offset), and the "
          + "topic ends at \(first.offset + 2)")
      #expect(found.first?.remedy?.contains("--partition 1 --start-offset \(first.offset)`") == true)
      try await stranger.abort(timeout: .seconds(60))
      #expect(await findings().map(\.severity) == [.good])
    }
  }
}
