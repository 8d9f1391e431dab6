import AppStore
import KafkaClient
import TestEnvironment
import Testing

@testable import Operations

@Suite struct OperationReportTests {
  private func report(_ event: OperationReport.Event) -> OperationReport {
    OperationReport(item: "dead-letters/3/17", command: "c", lane: 3, event: event)
  }

  @Test func `every event has a row for people and an object for scripts`() throws {
    let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let table: [(OperationReport.Event, String, String)] = [
      (.accepted, "accepted", "lane 3"),
      (.done, "done", "sent again"), (.failed("gone"), "failed", "gone"),
      (.lost(by: "ann", at: at, why: "w", status: "sent again"), "lost", "ann asked first, 2026-01-01T00:00:00Z"),
      (.unanswered, "unanswered", "pending"),
    ]
    for (event, name, part) in table {
      let object = try JSONObject(parsing: Array(report(event).jsonLine.utf8))
      #expect(object.string("event") == name && object.string("item") == "dead-letters/3/17")
      #expect(report(event).row.map(\.text).joined(separator: " ").contains(part), "\(name)")
    }
  }

  @Test func `a summary is a success only if nothing is left`() {
    var summary = OperationSummary()
    summary.done = 2
    #expect(summary.status == .success)
    for path in [\OperationSummary.failed, \.lost, \.unanswered] {
      var other = summary
      other[keyPath: path] = 1
      #expect(other.status == .failure && other.sentence.contains("2 sent again, 1 "))
    }
  }

  @Test func `skipped records are reported and change nothing else`() {
    var summary = OperationSummary()
    summary.done = 1
    func text(at offset: Int64) -> ConsumerRecord {
      ConsumerRecord(
        topic: "millrace.operations", partition: 0, offset: offset, timestamp: nil, key: nil, value: Array("{".utf8))
    }
    #expect(summary.passedOver.read(text(at: 4)) == nil)
    #expect(
      summary.sentence
        .hasPrefix("1 sent again. Skipped an unreadable record: millrace.operations[0]@4: the value is not valid JSON"))
    // The same records, read again, count once.
    for offset in [4, 9] { #expect(summary.passedOver.read(text(at: Int64(offset))) == nil) }
    #expect(summary.sentence.contains("Skipped 2 unreadable records; the first: "))
    #expect(summary.status == .success)
  }

  @Test func `a report is a row on a terminal and JSON in a pipe`() throws {
    for asJSON in [true, false] {
      let output = CollectedOutput()
      try Reporter<OperationReport>(output.output(), asJSON: asJSON).report(report(.done))
      #expect(output.lines.first?.hasPrefix(asJSON ? "{" : "dead-letters/3/17") == true && output.lines.count == 1)
    }
  }
}
