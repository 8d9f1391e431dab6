import Kafka
import Millrace
import Operations
import Testing

@Suite("How a command ends")
struct FailureReportTests {
  @Test("each kind of error has its status, and a line that says what to do")
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

  @Test("every problem of a configuration is told, one a line")
  func several() {
    let error = MillraceError(
      .configuration,
      [.init("unknown key", at: "a.yaml:1", remedy: "x"), .init("no number", at: "a.yaml:2", remedy: "y")])
    #expect(FailureReport(error).lines == ["a.yaml:1: unknown key; x", "a.yaml:2: no number; y"])
  }

  @Test("a reader that is gone is no failure")
  func outputClosed() {
    let report = FailureReport(OperationError(.outputClosed, "gone", remedy: "nothing"))
    #expect(report.status == .success)
    #expect(report.lines.isEmpty)
  }
}
