import KafkaClient
import MillraceWorker
import Testing

@testable import Operations

@Suite("Cluster addresses in messages")
struct ClusterAddressTests {
  // Nothing listens on port 1, so each command waits for its time limit.
  private let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", clientID: "test")
  private let timeout = Duration.milliseconds(100)

  @Test("the address is shown before the first request, without control characters")
  func connecting() {
    #expect(configuration.connecting == "connecting to 127.0.0.1:1 …")
    #expect(KafkaConfiguration(bootstrapServers: "a\u{1B}[2J").connecting == #"connecting to a\u{1B}[2J …"#)
  }

  @Test("the error of every command for an unreachable cluster contains its address", .timeLimit(.minutes(15)))
  func unreachable() async throws {
    let catalog = try Fixture().catalog
    let topics = TopicsOperation(configuration, catalog: catalog, durability: .relaxed, timeout: timeout)
    let listener = Listener(configuration, topics: ["x"], start: .latest, timeout: timeout)
    let errors = [
      await #expect(throws: KafkaError.self) { try await topics.survey() },
      await #expect(throws: KafkaError.self) {
        try await listener.run { _ in
        } deliver: { _ in
          false
        }
      },
    ]
    for error in errors {
      let report = FailureReport(try #require(error))
      #expect(report.status == .failure)
      #expect(report.lines.first?.contains("127.0.0.1:1") == true, "\(report.lines)")
      #expect(report.lines.first?.contains("check kafka.bootstrapServers") == true, "\(report.lines)")
    }
  }
}
