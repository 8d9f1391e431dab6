// Writes, reads and folds the audit trail, and validates it against its schema.

import AppStore
import MillraceTime
import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import TestEnvironment
import Testing

@testable import Operations

@Suite struct AuditLogTests {
  private static let time = ManualClock().clock.wallTime

  private static func started(_ run: String, parts: Int = 2) -> AuditRecord {
    AuditRecord(
      run: run, .replay, .started(parts: parts), by: "ann", source: "millrace", at: time, why: "the price was wrong",
      target: "winback", selection: ["types": ["REFUND"]])
  }

  private static func ended(
    _ run: String, _ part: String, _ result: AuditRecord.Result = .done, sent: Int64 = 5
  ) -> AuditRecord {
    AuditRecord(
      run: run, .replay, .ended(part: part, result: result, counts: [.init("sent", sent)]), by: "ann",
      source: "millrace/winback", at: time + .seconds(1), target: "winback")
  }

  @Test func `a run is one entry, its counts are the sums of its parts, and a repeated record counts once`()
    async throws
  {
    let log = InMemoryLog(clock: ManualClock().clock)
    try log.createTopic("x.millrace.audit", partitions: 1)
    let audit = AuditLog(on: log, prefix: "x.")
    try await audit.append([Self.started("r1"), Self.started("r2", parts: 1)])
    try log.append(ProducerRecord(topic: "x.millrace.audit", value: Array("hello".utf8)))
    #expect(try await audit.trail().entries.map(\.isOver) == [false, false])
    try await audit.append([Self.ended("r1", "0"), Self.ended("r1", "0"), Self.ended("r2", "0", .failed("gone"))])
    try await audit.append([Self.ended("r1", "1", .stopped, sent: 2)])
    let trail = try await audit.trail()
    #expect(trail.foreignCount == 1)
    #expect(trail.entries.map(\.run) == ["r1", "r2"])
    let first = try #require(trail.entry(of: "r1", .replay))
    #expect(first.counts == [.init("sent", 7)] && first.result == .stopped && first.by == "ann")
    #expect(first.why == "the price was wrong" && first.target == "winback" && first.source == "millrace")
    #expect(first.selection == ["types": ["REFUND"]] && first.startedAt == Self.time)
    #expect(trail.entry(of: "r2", .replay)?.result == .failed("gone"))
    #expect(first.json["result"] == "stopped")
  }

  @Test func `an end that is read before its start is kept`() {
    var trail = AuditTrail()
    trail.fold(Self.ended("r", "0"))
    trail.fold(Self.started("r", parts: 1))
    #expect(trail.entries.map(\.result) == [.done])
  }

  @Test func `an action of one part is recorded before and after it, whatever its end`() async throws {
    let clock = ManualClock().clock
    let log = InMemoryLog(clock: clock)
    try log.createTopic(AuditRecord.topic, partitions: 1)
    let audit = AuditLog(on: log, prefix: "")
    struct Broken: Error {}
    func run(_ by: String, fails: Bool, recordsAfterwards: Bool = false) async throws -> Int {
      try await audit.record(
        .resubmit, by: by, clock: clock, target: "t", selection: ["ids": ["a"]], recordsAfterwards: recordsAfterwards
      ) {
        if fails { throw Broken() }
        return recordsAfterwards ? try await audit.trail().entries.count : 7
      } end: {
        (.done, [.init("published", Int64($0))])
      }
    }
    #expect(try await run("ann", fails: false) == 7)
    await #expect(throws: Broken.self) { try await run("bob", fails: true) }
    #expect(try await run("eve", fails: false, recordsAfterwards: true) == 2, "the start is recorded after it")
    let entries = try await audit.trail().entries
    #expect(entries.map(\.by) == ["ann", "bob", "eve"] && entries.map(\.isOver) == [true, true, true])
    #expect(entries.map { $0.result?.rawValue } == ["done", "failed", "done"])
    #expect(entries[0].counts == [.init("published", 7)] && entries[0].action == .resubmit && entries[0].target == "t")
  }

  @Test func `without the topic nothing is written, and the error contains the remedy`() async throws {
    let audit = AuditLog(on: InMemoryLog(clock: ManualClock().clock), prefix: "")
    let error = await #expect(throws: OperationError.self) { try await audit.append([Self.started("r")]) }
    #expect(error?.remedy.hasPrefix("create it with millrace topics apply") == true)
  }

  @Test func `the schema declares every member and requires the mandatory ones`() throws {
    let file = URL(filePath: Project.path("topics/schemas/millrace.audit.schema.json"))
    let schema = try JSONObject(parsing: [UInt8](try Data(contentsOf: file)))
    guard case .object(let properties)? = schema["properties"], case .array(let required)? = schema["required"] else {
      Issue.record("the schema has no properties")
      return
    }
    let samples = [Self.started("r"), Self.ended("r", "0", .failed("gone"))].map(\.json)
    let written = Set(samples.flatMap { $0.members.map(\.key) })
    #expect(Set(properties.members.map(\.key)) == written)
    for sample in samples {
      #expect(required.allSatisfy { name in sample.members.contains { .string($0.key) == name } })
    }
  }
}

extension AuditTrail {
  /// The last entry of a run with the given action.
  func entry(of run: String, _ action: AuditRecord.Action) -> AuditEntry? {
    entries.last { $0.run == run && $0.action == action }
  }
}
