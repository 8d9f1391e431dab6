import AppStore
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
      (.lost(by: "ann", at: at, why: "w", standing: "sent again"), "lost", "ann asked first, 2026-01-01T00:00:00Z"),
      (.unanswered, "unanswered", "stands"),
    ]
    for (event, name, part) in table {
      let object = try JSONObject(parsing: Array(report(event).jsonLine.utf8))
      #expect(object.string("event") == name && object.string("item") == "dead-letters/3/17")
      #expect(report(event).row.map(\.text).joined(separator: " ").contains(part), "\(name)")
    }
  }

  @Test func `only a summary without a rest is a success`() {
    var summary = OperationSummary()
    summary.done = 2
    #expect(summary.status == .success)
    for path in [\OperationSummary.failed, \.lost, \.unanswered] {
      var other = summary
      other[keyPath: path] = 1
      #expect(other.status == .failure && other.sentence.contains("2 sent again, 1 "))
    }
  }

  @Test func `records that were passed over are told of, and change nothing else`() {
    var summary = OperationSummary()
    summary.done = 1
    summary.unreadable = ["millrace.operations[0]@4: no JSON"]
    #expect(
      summary.sentence
        == "1 sent again. A record that cannot be read was passed over: millrace.operations[0]@4: no JSON.")
    summary.unreadable.append("millrace.operations[0]@9: no JSON")
    #expect(summary.sentence.contains("2 records that cannot be read were passed over; the first: "))
    #expect(summary.status == .success)
  }

  @Test func `a report goes to a terminal as a row and to a pipe as JSON`() throws {
    for asJSON in [true, false] {
      let output = CollectedOutput()
      try Reporter<OperationReport>(output.output(), asJSON: asJSON).report(report(.done))
      #expect(output.lines.first?.hasPrefix(asJSON ? "{" : "dead-letters/3/17") == true && output.lines.count == 1)
    }
  }
}
