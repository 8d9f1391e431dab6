import KafkaClient
import Testing

@testable import MillraceCore

@Suite struct ExitStatusTests {
  private struct Other: Error {}

  @Test(
    arguments: [
      (MillraceError.Area.configuration, 78), (.topics, 78), (.unavailable, 69), (.record, 70), (.lifecycle, 70),
      (.membership, 76),
    ] as [(MillraceError.Area, Int32)])
  func `The area of an error determines the exit status`(area: MillraceError.Area, status: Int32) {
    #expect(MillraceCore.ExitStatus(MillraceError(area, "w", remedy: "r")).rawValue == status)
  }

  @Test func `Any other error is a software error`() {
    #expect(MillraceCore.ExitStatus(Other()) == .software)
  }

  @Test func `Unreachable brokers have the status for an unavailable service`() {
    var error = KafkaError(code: .timedOut, operation: "read", reason: "no answer", isRetriable: true)
    #expect(MillraceCore.ExitStatus(error) == .software)
    error.problems = [BrokerProblem(broker: "k:1", kind: .connection, words: "Connection refused")]
    #expect(MillraceCore.ExitStatus(error) == .unavailable)
  }
}
