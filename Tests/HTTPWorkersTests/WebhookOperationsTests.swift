// The commands `millrace webhooks …`, without a cluster.

import AppStore
import AppStoreServerAPI
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Testing

@testable import HTTPWorkers
@testable import MillraceWorker
@testable import Operations

@Suite struct WebhookOperationsTests {
  private static func configuration() throws -> MillraceConfiguration {
    try LoadedConfiguration.load(
      text: "webhooks: { crm: { url: 'http://a', secretFile: s } }\nworkers: { refunds: {}, webhook-b: {} }"
    ).configuration
  }

  @Test func `a name that is no webhook is refused with those that are`() throws {
    let configuration = try Self.configuration()
    #expect(try WebhookOperations.worker("crm", in: configuration) == "webhook-crm")
    let error = #expect(throws: OperationError.self) { try WebhookOperations.worker("refunds", in: configuration) }
    #expect(error?.description.contains("choose from b, crm") == true, "\(error?.description ?? "")")
  }

  @Test func `the lag counts the offsets that the group has not committed`() {
    func place(_ number: Int32) -> TopicPartition { TopicPartition(topic: "t", partition: number) }
    let ranges = [place(0): Int64(0)..<10, place(1): 5..<9, place(2): 3..<3, place(3): 4..<6]
    // Partition 1 has lost records that were not committed, 3 was never committed.
    #expect(WebhookStatus.lag(committed: [place(0): 7, place(1): 2, place(2): 3], ranges: ranges) == 9)
    #expect(WebhookStatus.lag(committed: [place(0): 12], ranges: [place(0): 0..<10]) == 0)
  }

  @Test func `the status is a row for people and an object for scripts`() {
    let status = WebhookStatus(
      name: "crm", url: "https://a", events: ["x.*", "y"], lag: 7, deadLetters: 1, isPaused: true)
    #expect(
      status.jsonLine
        == #"{"name":"crm","url":"https://a","events":["x.*","y"],"lag":7,"deadLetters":1,"paused":true}"#)
    let lines = WebhookStatus.lines([status], lineWidth: nil, usesColor: false)
    #expect(lines.count == 2 && lines[1].contains("x.*,y") && lines[1].contains("paused"))
  }

  @Test func `a pause is an instruction and an entry in the audit trail`() async throws {
    let log = InMemoryLog(clock: ManualClock().clock)
    for topic in ["millrace.audit", "millrace.operations"] { try log.createTopic(topic, partitions: 1) }
    let time = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    for (verb, at) in [(RunVerb.pause, time), (.resume, time + .seconds(1))] {
      try await WebhookOperations.control("webhook-crm", verb, by: "ada", at: at, on: log, prefix: "")
      var last: RunVerb?
      for record in log.records(in: "millrace.operations") { WorkerPause.fold(&last, record, of: "webhook-crm") }
      #expect(last == verb)
    }
    let entries = try await AuditLog(on: log, prefix: "").trail().entries
    #expect(entries.map(\.action) == [.pause, .resume])
    #expect(entries.allSatisfy { $0.by == "ada" && $0.target == "webhook-crm" && $0.isOver })
  }

  @Test(
    arguments: [
      (204, true, "delivered"), (410, false, "gone"), (503, false, "retry server-error"), (401, false, "retry refused"),
      (0, false, "retry unreachable"),
    ])
  func `a test posts one signed event and says what its answer means`(
    status: Int, isTaken: Bool, meaning: String
  ) async throws {
    let receiver = StubReceiver { _ in status }
    let endpoint = Endpoint(
      url: StubReceiver.url, payload: .decoded, timeout: .seconds(10),
      signature: try WebhookSignature(secrets: [Array(StubReceiver.secret.utf8)], of: "secretFile"),
      exchange: receiver)
    let report = try await WebhookTest.send(to: endpoint, webhook: "crm", clock: .system)
    #expect((report.status == .success) == isTaken)
    #expect(report.meaning.hasPrefix(meaning), "\(report.meaning)")
    #expect(report.jsonLine.contains(#""id":"\#(report.id)""#))
    let post = try #require(receiver.posts.first)
    #expect(post.id == report.id && post.json["type"] == .string(WebhookTest.type))
    #expect(post.json["data"] == ["webhook": "crm"])
  }
}
