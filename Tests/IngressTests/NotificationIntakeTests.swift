// Tests the intake without HTTP or Kafka: how it answers for each result of the sink.

import MillraceTime
import AppStore
import AppStoreSigning
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import Synchronization
import Testing

@testable import Ingress

/// A sink that stores all records, or fails for all of them with one error.
private final class FakeSink: RecordSink {
  private let taken = Mutex<[ProducerRecord]>([])
  private let failure: KafkaError?

  init(failing failure: KafkaError? = nil) { self.failure = failure }

  var records: [ProducerRecord] { taken.withLock { $0 } }

  func send(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant
  ) async throws(KafkaError) -> RecordPosition {
    if let failure { throw failure }
    taken.withLock { $0.append(record) }
    return RecordPosition(topic: record.topic, partition: 0, offset: 0)
  }
}

@Suite struct NotificationIntakeTests {
  private func withIntake(
    _ sink: FakeSink, logs: LogSink = LogSink { _ in }, clock: MillraceClock = .system,
    _ body: (NotificationIntake, IngressFixture) async throws -> Void
  ) async throws {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let catalog = try TopicCatalog.load(fixture.configuration.topics)
    let handler = LogSettings().handler(label: "test", clock: .system, sink: logs, isTerminal: false)
    let intake = NotificationIntake(
      admission: try NotificationAdmission(fixture.configuration, clock: .system), router: catalog.router, sink: sink,
      quarantine: Quarantine(topic: "q", perMinute: 100, sink: sink, clock: clock), clock: clock,
      metrics: IngressMetrics(factory: PrometheusRegistry()), sends: SendHealth(),
      refusals: RepeatedLog(
        Logger(label: "test") { _ in handler }, clock: clock, interval: .seconds(10), counting: "refusals"))
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
  func `a failed write to Kafka is not answered 200`(code: KafkaError.Code, expected: RefusedRequest) async throws {
    let sink = FakeSink(failing: KafkaError(code: code, operation: "send", reason: ""))
    try await withIntake(sink) { intake, fixture in
      let body = try sample(fixture).body
      let refused = await #expect(throws: RefusedRequest.self) {
        try await intake.accept(body, as: .v2, traceParent: .continuing(nil), until: .now + .seconds(60))
      }
      #expect(refused == expected)
    }
  }

  @Test func `a failed write to the quarantine does not change the answer`() async throws {
    let sink = FakeSink(failing: KafkaError(code: .messageTimedOut, operation: "send", reason: ""))
    try await withIntake(sink) { intake, fixture in
      let stranger = try SigningChain.generate(at: IngressFixture.signedDate)
      let body = try sample(fixture, chain: stranger).body
      let refused = await #expect(throws: RefusedRequest.self) {
        try await intake.accept(body, as: .v2, traceParent: .continuing(nil), until: .now + .seconds(60))
      }
      #expect(refused?.label == "chain")
      #expect(refused?.problem == .unavailable)
    }
  }

  @Test func `Kafka sets the timestamp of records, and a header carries a rehearsal's time`() async throws {
    let rehearsal = MillraceClock(origin: IngressFixture.signedDate, rate: 60)
    for (clock, isRehearsal) in [(MillraceClock.system, false), (rehearsal, true)] {
      let sink = FakeSink()
      try await withIntake(sink, clock: clock) { intake, fixture in
        try await intake.accept(
          try sample(fixture).body, as: .v2, traceParent: .continuing(nil), until: .now + .seconds(60))
        let stranger = try SigningChain.generate(at: IngressFixture.signedDate)
        await #expect(throws: RefusedRequest.self) {
          try await intake.accept(
            try sample(fixture, chain: stranger).body, as: .v2, traceParent: .continuing(nil),
            until: .now + .seconds(60))
        }
      }
      #expect(sink.records.count == 2, "expected one notification and one body in the quarantine")
      for record in sink.records {
        #expect(record.timestamp == nil, "retention would delete a record with a rehearsal's timestamp")
        let times = record.headers.filter { $0.name == "millrace-time" }.compactMap {
          $0.value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
        }
        #expect(times.count == (isRehearsal ? 1 : 0))
        #expect(times.allSatisfy { $0 >= IngressFixture.signedDate.millisecondsSince1970 })
        #expect(times.allSatisfy { $0 <= rehearsal.wallTime.millisecondsSince1970 })
      }
    }
  }

  @Test func `logs never contain payloads or secrets`() async throws {
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
            try await intake.accept(body, as: version, traceParent: .continuing(nil), until: .now + .seconds(60))
          } catch {
            // Only the log matters here, not the answer.
          }
        }
      }
    }
    let text = lines.withLock { String(decoding: $0, as: UTF8.self) }
    #expect(text.contains("\"reason\":\"chain\""))
    #expect(text.contains("kafka") || text.contains("Kafka"))
    #expect(!text.contains(IngressFixture.password))
    // The header and the payload of every JWS begin with these letters.
    #expect(!text.contains("eyJ"))
    #expect(!text.contains("original_transaction_id"))
  }
}
