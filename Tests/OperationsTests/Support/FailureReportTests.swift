import KafkaClient
import MillraceCore
import Operations
import Testing

@Suite("Error reports and exit statuses")
struct FailureReportTests {
  @Test("each kind of error has an exit status and a line with a remedy")
  func statuses() {
    let table: [(any Error, CommandStatus)] = [
      (OperationError(.usage, "what", at: "--flag", remedy: "remedy"), .usage),
      (OperationError(.failed, "what", remedy: "remedy"), .failure),
      (MillraceError(.configuration, "what", at: "key", remedy: "remedy"), .configuration),
      (MillraceError(.topics, "what", at: "file", remedy: "remedy"), .configuration),
      (MillraceError(.unavailable, "what", remedy: "remedy"), .failure),
      (KafkaError(code: .timedOut, operation: "read", reason: "timed out", isRetriable: true), .failure),
      (KafkaError(code: .invalidConfiguration, operation: "configure", reason: "no such property"), .configuration),
      (CancellationError(), .failure),
    ]
    for (error, status) in table {
      let report = FailureReport(error)
      #expect(report.status == status, "\(error)")
      #expect(report.lines.count == 1 && report.lines.allSatisfy { $0.contains(";") && !$0.contains("\n") }, "\(error)")
    }
  }

  @Test("the remedy of a Kafka error depends on the error code")
  func kafka() {
    let table: [(BrokerProblem.Kind, String)] = [
      (.connection, "that the brokers run"), (.name, "the names in kafka.bootstrapServers"),
      (.securityProtocol, "check security.protocol"), (.tls, "ssl.*"), (.authentication, "sasl.*"),
      (.token, "check kafka.oauth"),
    ]
    for (kind, words) in table {
      var error = KafkaError(code: .timedOut, operation: "read", reason: "timed out", isRetriable: true)
      error.problems = [BrokerProblem(broker: "k:1", kind: kind, words: "no")]
      let report = FailureReport(error)
      #expect(report.lines.count == 1 && report.lines[0].contains(words), "\(report.lines)")
      #expect(report.lines[0].contains("that the brokers run") == (kind == .connection))
    }
  }

  @Test("every problem of a configuration is reported on a line of its own")
  func several() {
    let error = MillraceError(
      .configuration,
      [.init("unknown key", at: "a.yaml:1", remedy: "x"), .init("no number", at: "a.yaml:2", remedy: "y")])
    #expect(FailureReport(error).lines == ["a.yaml:1: unknown key; x", "a.yaml:2: no number; y"])
  }

  @Test("a closed output is not a failure")
  func outputClosed() {
    let report = FailureReport(OperationError(.outputClosed, "gone", remedy: "nothing"))
    #expect(report.status == .success)
    #expect(report.lines.isEmpty)
  }
}
