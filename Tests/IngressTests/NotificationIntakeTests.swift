// The intake without HTTP and without Kafka: what follows from what the sink says.

import Clocks
import AppStore
import AppStoreSigning
import Kafka
import Logging
import Millrace
import Synchronization
import Testing

@testable import Ingress

/// A sink that keeps what it took, or refuses everything with one error.
private final class FakeSink: RecordSink {
  private let taken = Mutex<[ProducerRecord]>([])
  private let failure: KafkaError?

  init(failing failure: KafkaError? = nil) { self.failure = failure }

  var records: [ProducerRecord] { taken.withLock { $0 } }

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    if let failure { throw failure }
    taken.withLock { $0.append(record) }
    return RecordPosition(topic: record.topic, partition: 0, offset: 0)
  }
}

@Suite struct NotificationIntakeTests {
  private func withIntake(
    _ sink: FakeSink, logs: LogSink = LogSink { _ in },
    _ body: (NotificationIntake, IngressFixture) async throws -> Void
  ) async throws {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let catalog = try TopicCatalog.load(fixture.configuration.topics)
    let handler = LogSettings().handler(label: "test", clock: .system, sink: logs, isTerminal: false)
    let intake = NotificationIntake(
      admission: try NotificationAdmission(fixture.configuration, clock: .system), router: catalog.router, sink: sink,
      quarantine: Quarantine(topic: "q", perMinute: 100, sink: sink, clock: .system), clock: .system,
      metrics: IngressMetrics(factory: PrometheusRegistry()), logger: Logger(label: "test") { _ in handler })
    try await body(intake, fixture)
  }

  private func sample(_ fixture: IngressFixture, chain: SigningChain? = nil) throws -> SampleNotification {
    var samples = SampleNotifications(chain: chain ?? fixture.chain, app: fixture.app, seed: 41)
    return try samples.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate)
  }

  @Test(arguments: [
    (KafkaError.Code.messageTimedOut, RefusedRequest.kafkaUnavailable), (.queueFull, .kafkaUnavailable),
    (.closed, .kafkaUnavailable), (.messageTooLarge, .recordTooLarge),
  ])
  func `what Kafka did not take is not answered 200`(code: KafkaError.Code, expected: RefusedRequest) async throws {
    let sink = FakeSink(failing: KafkaError(code: code, operation: "send", reason: ""))
    try await withIntake(sink) { intake, fixture in
      let body = try sample(fixture).body
      let refused = await #expect(throws: RefusedRequest.self) {
        try await intake.take(body, as: .v2, traceParent: .continuing(nil))
      }
      #expect(refused == expected)
    }
  }

  @Test func `a quarantine that cannot be written changes no answer`() async throws {
    let sink = FakeSink(failing: KafkaError(code: .messageTimedOut, operation: "send", reason: ""))
    try await withIntake(sink) { intake, fixture in
      let stranger = try SigningChain.generate(at: IngressFixture.signedDate)
      let body = try sample(fixture, chain: stranger).body
      let refused = await #expect(throws: RefusedRequest.self) {
        try await intake.take(body, as: .v2, traceParent: .continuing(nil))
      }
      #expect(refused?.label == "chain")
      #expect(refused?.problem == .unavailable)
    }
  }

  @Test func `logs hold neither payloads nor secrets, whatever becomes of a notification`() async throws {
    let lines = Mutex<[UInt8]>([])
    let logs = LogSink { line in lines.withLock { $0 += line } }
    for sink in [FakeSink(), FakeSink(failing: KafkaError(code: .messageTimedOut, operation: "send", reason: ""))] {
      try await withIntake(sink, logs: logs) { intake, fixture in
        let stranger = try SigningChain.generate(at: IngressFixture.signedDate)
        var v1 = SampleNotificationsV1(app: fixture.app, password: IngressFixture.password, seed: 42)
        var elsewhere = SampleNotificationsV1(
          app: SampleApp(bundleId: "com.example.other"), password: IngressFixture.password, seed: 43)
        let posted: [(NotificationVersion, [UInt8])] = [
          (.v2, try sample(fixture).body), (.v2, try sample(fixture, chain: stranger).body), (.v2, Array("{}".utf8)),
          (.v1, v1.next(.refund, at: IngressFixture.signedDate).body),
          (.v1, elsewhere.next(.refund, at: IngressFixture.signedDate).body),
        ]
        for (version, body) in posted {
          do {
            try await intake.take(body, as: version, traceParent: .continuing(nil))
          } catch {
            // Refused or not: only the log is looked at.
          }
        }
      }
    }
    let text = lines.withLock { String(decoding: $0, as: UTF8.self) }
    #expect(text.contains("\"reason\":\"chain\""))
    #expect(text.contains("kafka") || text.contains("Kafka"))
    #expect(!text.contains(IngressFixture.password))
    // Every JWS of this project begins so, header and payload alike.
    #expect(!text.contains("eyJ"))
    #expect(!text.contains("original_transaction_id"))
  }
}
