import AppStore
import MillraceRecords
import TestEnvironment
import Testing

@testable import KafkaClient
@testable import Operations

@Suite("Results of a resubmission")
struct ResubmissionOutcomeTests {
  private static let id = String(repeating: "ab", count: 32)
  private static let outcomes: [(ResubmissionOutcome.Result, String, String)] = [
    (.admitted, "would be written", "admitted"),
    (.written(RecordPosition(topic: "t", partition: 1, offset: 2)), "written", "written"),
    (.refused(Refusal(.chain, .retryLater, "no trusted root")), "still refused", "refused"),
    (.failed(KafkaError(code: .timedOut, operation: "send to t", reason: "timed out")), "not written", "failed"),
  ]

  @Test("each result has a text for people and a member for scripts")
  func words() throws {
    for (result, word, member) in Self.outcomes {
      let outcome = ResubmissionOutcome(id: Self.id, topic: "t", notificationID: "n", result: result)
      #expect(outcome.row.map(\.text).prefix(2) == [String(Self.id.prefix(16)), word])
      let json = try JSONObject(parsing: Array(outcome.jsonLine.utf8))
      #expect(json.string("id") == Self.id && json.string("result") == member)
      #expect(json.string("notificationId") == "n")
    }
  }

  @Test("the summary counts the results and determines the exit status")
  func summary() {
    var summary = ResubmissionSummary()
    for (result, _, _) in Self.outcomes { summary.add(ResubmissionOutcome(id: Self.id, result: result)) }
    #expect(
      summary.sentence(isDryRun: false)
        == "2 written, 1 still refused, 1 not written to Kafka: run the command again.")
    #expect(summary.status(named: false) == .failure)
    #expect(ResubmissionSummary().status(named: true) == .success)
  }

  @Test("the columns of consecutive rows are aligned")
  func reported() throws {
    let collected = CollectedOutput()
    let reporter = Reporter<ResubmissionOutcome>(collected.output(), asJSON: false)
    for (result, _, _) in Self.outcomes {
      try reporter.report(ResubmissionOutcome(id: Self.id, topic: "t", result: result))
    }
    #expect(collected.lines.first == "abababababababab  would be written  t")
    #expect(collected.lines[1] == "abababababababab  written           t[1]@2")
  }
}
