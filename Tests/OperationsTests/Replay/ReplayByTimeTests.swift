// Replays by time on a cluster that supports time lookups: killed halfway and continued, and run by two operators at
// once.

import AppStore
import MillraceTime
import Foundation
import KafkaClient
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations
import MillraceCore

@Suite(
  .enabled(if: RealCluster.isNamed, "needs a Kafka cluster in KAFKA_BOOTSTRAP_SERVERS"), .timeLimit(.minutes(15)))
struct ReplayByTimeTests {
  private let prefix = "\(SharedCluster.uniqueName())."
  private let now = MillraceClock.system.wallTime
  private var source: String { prefix + "appstore.notifications.refunds" }
  private var target: String { prefix + "appstore.notifications.unrecognized" }

  /// Writes a record a minute for the last three hours.
  private func written(by log: KafkaLog) async throws -> [String: Timestamp] {
    let catalog = try TopicCatalog.load(directory: Project.path("topics"), prefix: prefix, lanes: 2)
    let topics = TopicsOperation(RealCluster.configuration, catalog: catalog, durability: .relaxed)
    #expect(try await topics.apply(try await topics.survey()) { _ in } == [])
    let times = Dictionary(uniqueKeysWithValues: (1...180).map { ("n\($0)", now - .seconds(Int64($0) * 60)) })
    let records = times.sorted { $0.value < $1.value }.map { id, time in
      ProducerRecord(
        topic: source, key: Array(id.utf8), value: [1], headers: [RecordHeader("ce_id", id)],
        timestamp: time.millisecondsSince1970)
    }
    try await log.append(records)
    return times
  }

  private func copies() async throws -> [String] {
    let log = try await KafkaLog.connect(RealCluster.configuration, timeout: .seconds(30))
    return try await log.fold(log.presentOffsets(of: [target]), into: []) { ids, page in
      ids += page.records.map { record in
        record.headers.last { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
    }
  }

  private func request(_ since: Timestamp, _ until: Timestamp, rate: Int? = nil) -> ReplayRequest {
    var selection = RecordSelection()
    (selection.topics, selection.since, selection.until) = ([source], since, until)
    return ReplayRequest(selection, to: .topic(target), rate: rate)
  }

  @Test func `a time range is copied once, despite a crash and two operators`() async throws {
    let log = try await KafkaLog.connect(RealCluster.configuration, timeout: .seconds(30))
    let times = try await written(by: log)
    let (ann, bob) = (
      ReplayOperation(on: log, prefix: prefix, author: "ann"), ReplayOperation(on: log, prefix: prefix, author: "bob")
    )
    let (early, middle, late) = (now - .seconds(7_200), now - .seconds(3_600), now - .seconds(600))
    func chosen(_ since: Timestamp, _ until: Timestamp) -> Set<String> {
      Set(times.filter { $0.value >= since && $0.value < until }.keys)
    }

    let plan = try await ann.plan(request(early, middle, rate: 20))
    #expect(try await ann.survey(plan).chosen == chosen(early, middle).count)
    let run = try #require(try await ann.begin(plan))
    let first = Task { try await ann.carryOut(run.id) }
    struct Enough: Error {}
    await #expect(throws: Enough.self) {
      _ = try await bob.follow(run.id, patience: .seconds(60)) { run in if run.sent >= 5 { throw Enough() } }
    }
    first.cancel()
    _ = await first.result
    #expect(try await bob.book()[run.id]?.isOver == false, "the run ended before it was killed")
    try await bob.carryOut(run.id)
    let copied = try await copies()
    #expect(copied.count == chosen(early, middle).count && Set(copied) == chosen(early, middle))

    let second = try #require(try await ann.begin(try await ann.plan(request(middle, late))))
    async let one = Task { try await ann.carryOut(second.id) }.result
    async let two = Task { try await bob.carryOut(second.id) }.result
    // One of them may fence the other.
    _ = await (one, two)
    try await bob.carryOut(second.id)
    let all = try await copies()
    #expect(all.count == chosen(early, late).count && Set(all) == chosen(early, late))
    let entries = try await AuditLog(on: log, prefix: prefix).trail().entries
    #expect(entries.map(\.result) == [.done, .done])
    #expect(entries.map { $0.counts.first?.count } == [60, 50].map { Int64($0) }, "\(entries.map(\.counts))")
  }
}
