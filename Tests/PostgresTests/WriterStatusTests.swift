import KafkaClient
import MillraceRecords
import Testing

@testable import MillraceCore
@testable import Postgres

@Suite struct WriterStatusTests {
  private static let full = PostgresError(
    code: "53100", operation: "write events", message: "could not extend file: No space left on device",
    isConnectionLost: false)
  private static let refused = PostgresError(
    code: "", operation: "connect", message: "Connection refused", isConnectionLost: true)
  private static let fenced = PostgresError(
    code: PostgresError.fenced, operation: "move the positions", message: "moved", isConnectionLost: false)
  private let events = TopicPartition(topic: "events", partition: 0)
  private let purchases = TopicPartition(topic: "purchases", partition: 1)

  private func problem(_ status: WriterStatus) -> String? { status.report("a").problem }

  /// A writer whose rows of two partitions could not be written.
  private func failed(_ error: PostgresError) -> WriterStatus {
    let status = WriterStatus()
    status.assigned([events, purchases])
    status.connected()
    status.began(at: [events: 10, purchases: 5])
    status.failed(error)
    return status
  }

  @Test func `a connection ends the problem of a connection`() {
    let status = WriterStatus()
    #expect(problem(status)?.hasPrefix("not connected yet") == true)
    status.failed(Self.refused)
    #expect(problem(status)?.contains("Connection refused; check postgres.url") == true)
    status.connected()
    #expect(problem(status) == nil)
  }

  @Test func `a full disk is the problem until its rows are written`() async throws {
    let status = failed(Self.full)
    status.connected()
    status.failed(Self.refused)
    status.connected()
    #expect(problem(status)?.contains("Connection refused") == true)
    status.began(at: [events: 10])
    status.failed(Self.full)
    status.connected()
    #expect(
      problem(status)
        == "could not write events: could not extend file: No space left on device (SQLSTATE 53100); "
        + "free space on the disk of the database, or enlarge it; the rows are written without a restart")
    #expect(!status.wrote(to: [purchases: 6]))
    #expect(!status.wrote(to: [events: 10, purchases: 7]))
    let outcome = try await status.check.run()
    #expect(!outcome.isHealthy && outcome.detail.hasSuffix("(SQLSTATE 53100)"))
    #expect(outcome.remedy?.hasPrefix("free space") == true)
    #expect(status.wrote(to: [events: 11]))
    #expect(problem(status) == nil)
  }

  @Test func `rows that another process writes are not the problem of this one`() {
    var status = failed(Self.full)
    status.assigned([purchases])
    status.connected()
    #expect(problem(status) != nil)
    status.assigned([])
    #expect(problem(status) == nil)

    status = failed(Self.fenced)
    status.connected()
    #expect(problem(status) == nil)
  }

  @Test(
    arguments: [
      ("53100", "free space"), ("42501", "grant this user"), ("08006", "see the database's log"),
      ("", "check postgres.url"),
      ("53200", "see the database's log"), (PostgresError.fenced, "none"),
    ])
  func `the remedy fits the cause`(code: String, remedy: String) {
    let error = PostgresError(code: code, operation: "write events", message: "m", isConnectionLost: false)
    #expect(error.remedy.hasPrefix(remedy))
  }
}
