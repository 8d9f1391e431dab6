// Tests the restarts and the wrong clocks that follow from the reports of processes.

import AppStore
import KafkaClient
import MillraceRecords
import Testing

@testable import Console

@Suite struct ProcessTableTests {
  private static let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func at(_ seconds: Int) -> Timestamp { Self.at + .seconds(seconds) }

  /// A table in which a process of `refunds` reports.
  private struct Reports {
    var table = ProcessTable()

    /// - Parameters:
    ///   - started: When the process began; nil for a version that does not say so.
    ///   - written: When it reports, by its own clock.
    ///   - now: The real time, if it is another one.
    mutating func report(
      _ instance: String = "pod-0", started: Timestamp? = nil, at written: Timestamp, now: Timestamp? = nil
    ) throws {
      var report = ProcessReport("refunds", instance: instance, version: "0.1.0")
      report.started = started
      try table.fold(report.record(to: "millrace.control").read(), writtenAt: written, now: now ?? written)
    }

    mutating func end(_ instance: String = "pod-0", at now: Timestamp) throws {
      let key = ProcessReport("refunds", instance: instance, version: "0.1.0").key
      let tombstone = ProducerRecord(topic: "millrace.control", partition: 0, key: Array(key.utf8), value: nil)
      try table.fold(tombstone.read(), writtenAt: now, now: now)
    }
  }

  @Test func `an old report of another topic is no sign of a wrong clock`() throws {
    var reports = Reports()
    try reports.report(at: at(3_600))
    let old = ProcessReport(ProcessReport.ingress, instance: "a", version: "0.1.0")
    try reports.table.fold(ingress: old.record(to: "millrace.ingress").read(), writtenAt: at(0), now: at(3_600))
    #expect(reports.table.clockErrors(at: at(3_600)).isEmpty)
    #expect(reports.table.reports(at: at(3_600)).map(\.name) == ["refunds"])
  }

  @Test func `a process that begins again without an orderly end has restarted`() throws {
    var reports = Reports()
    for start in [0, 10, 20, 30] {
      for second in [start, start + 3] { try reports.report(started: at(start), at: at(second)) }
    }
    try reports.report("pod-1", started: at(0), at: at(30))
    #expect(reports.table.restarts(at: at(40)) == ["refunds": ["pod-0": 3]])
    #expect(reports.table.restarts(at: at(15 + 1_800)) == ["refunds": ["pod-0": 2]])
    #expect(reports.table.restarts(at: at(31 + 1_800)).isEmpty)
    // An operator restarts it.
    try reports.end(at: at(50))
    try reports.report(started: at(60), at: at(60))
    #expect(reports.table.restarts(at: at(60)).isEmpty)
  }

  @Test func `a version that does not say when it began has no restarts`() throws {
    var reports = Reports()
    for second in 0..<5 { try reports.report(at: at(second)) }
    try reports.report(started: at(6), at: at(6))
    try reports.report(at: at(7))
    #expect(reports.table.restarts(at: at(8)).isEmpty)
  }

  @Test func `the restarts that are kept are bounded`() throws {
    var reports = Reports()
    for second in 0..<1_000 { try reports.report(started: at(second), at: at(second)) }
    #expect(reports.table.restarts(at: at(1_000)) == ["refunds": ["pod-0": 100]])
  }

  @Test func `a clock that is behind or ahead is noticed, and its process lives`() throws {
    var reports = Reports()
    try reports.report("right", at: at(0))
    try reports.report("behind", at: at(-7_200), now: at(1))
    try reports.report("ahead", at: at(1_800), now: at(2))
    try reports.report("right", at: at(30))
    #expect(
      reports.table.clockErrors(at: at(30)) == [
        "refunds/behind": .seconds(-7_200), "refunds/ahead": .seconds(1_798),
      ])
    #expect(reports.table.reports(at: at(30)).map(\.instance) == ["ahead", "behind", "right"])
    // A process that has ended no longer has a wrong clock, and a corrected one neither.
    try reports.report("ahead", at: at(40))
    #expect(reports.table.clockErrors(at: at(200)).isEmpty)
  }

  @Test func `a report that Kafka took late says nothing about a clock`() throws {
    var reports = Reports()
    try reports.report("right", at: at(300))
    try reports.report("late", at: at(0), now: at(301))
    #expect(reports.table.clockErrors(at: at(301)).isEmpty)
    // The topic is read long after it was written.
    try reports.report("right", at: at(310), now: at(90_000))
    #expect(reports.table.clockErrors(at: at(310)).isEmpty)
  }
}
