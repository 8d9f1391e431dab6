import MillraceTime
import AppStore
import AppStoreSigning
import KafkaClient
import MillraceCore
import MillraceRecords
import Synchronization
import Testing

@testable import Operations

@Suite("The quarantine in a cluster", .timeLimit(.minutes(15)))
struct QuarantineOperationTests {
  private let fixture: Fixture
  private let cluster: TestCluster

  init() throws {
    fixture = try Fixture()
    cluster = try TestCluster(fixture.catalog)
  }

  /// Refuses a body for an app that is not configured, as the ingress does, and returns its quarantine record.
  private func quarantined(_ sample: SampleNotification) async throws -> ProducerRecord {
    let admission = try NotificationAdmission(fixture.configuration(withApp: false), clock: .system)
    let refusal = try #require(
      await #expect(throws: Refusal.self) { try await admission.v2(body: sample.body) })
    return QuarantineRecord(
      value: try #require(refusal.evidence), version: .v2, reason: refusal.reason, receivedAt: Fixture.signedDate
    ).producerRecord(topic: QuarantineRecord.topic)
  }

  private func resubmit(
    _ operation: QuarantineOperation, withApp: Bool, isDryRun: Bool = false
  ) async throws -> (ResubmissionSummary, [ResubmissionOutcome]) {
    let outcomes = Mutex<[ResubmissionOutcome]>([])
    let summary = try await operation.resubmit(
      try await operation.inventory().ids(matching: nil),
      by: try Readmission(fixture.configuration(withApp: withApp), clock: .system), isDryRun: isDryRun
    ) { outcome in outcomes.withLock { $0.append(outcome) } }
    return (summary, outcomes.withLock { $0 })
  }

  @Test("an admitted body becomes the record that the ingress would have written, once")
  func roundTrip() async throws {
    let sample = try fixture.sample(.refund)
    let refused = try await quarantined(sample)
    let forgery = QuarantineRecord(
      value: Array("x.y.z".utf8), version: .v2, reason: .chain, receivedAt: Fixture.signedDate)
    try await cluster.write([refused, refused, forgery.producerRecord(topic: QuarantineRecord.topic)])
    let operation = try QuarantineOperation(cluster.configuration, catalog: fixture.catalog)
    #expect(try await operation.inventory().entries.count == 2)

    let (still, _) = try await resubmit(operation, withApp: false)
    #expect(still.refused == 2 && still.admitted == 0)
    #expect(still.status(named: false) == .success && still.status(named: true) == .failure)

    let (dry, dryOutcomes) = try await resubmit(operation, withApp: true, isDryRun: true)
    #expect(dry.admitted == 1 && dry.refused == 1)
    #expect(dryOutcomes.contains { $0.result == .admitted && $0.topic == "appstore.notifications.refunds" })
    #expect(try await cluster.read("appstore.notifications.refunds").isEmpty)

    let (done, _) = try await resubmit(operation, withApp: true)
    #expect(done.admitted == 1 && done.refused == 1 && done.failed == 0)
    let records = try await cluster.read("appstore.notifications.refunds")
    let expected = try await fixture.record(v2: sample).producerRecord
    #expect(records.map(\.value) == [expected.value])
    #expect(records.first?.key == expected.key)
    #expect(records.first?.headers == expected.headers)
    #expect(try await operation.inventory().entries.count == 2, "a resubmission leaves the quarantine unchanged")
  }

  @Test("a version 1 body is written if one of its posts had a secret of its app")
  func severalSecrets() async throws {
    let value = try ResponseBodyV1.Envelope(parsing: fixture.sampleV1(.refund)).bytes
    func kept(secretOf: String) -> ProducerRecord {
      QuarantineRecord(
        value: value, version: .v1, reason: .appNotConfigured, receivedAt: Fixture.signedDate, secretOf: [secretOf]
      ).producerRecord(topic: QuarantineRecord.topic)
    }
    try await cluster.write([kept(secretOf: "com.example.gone"), kept(secretOf: "com.example.gone")])
    let operation = try QuarantineOperation(cluster.configuration, catalog: fixture.catalog)
    let (refused, _) = try await resubmit(operation, withApp: true)
    #expect(refused.admitted == 0 && refused.refused == 1)

    try await cluster.write([kept(secretOf: fixture.app.bundleId), kept(secretOf: fixture.app.bundleId)])
    let (done, _) = try await resubmit(operation, withApp: true)
    #expect(done.admitted == 1 && done.refused == 0)
    #expect(try await cluster.read("appstore.notifications.refunds").map(\.value) == [value])
  }

  @Test("a catalog without a quarantine is an error that names the missing file")
  func undeclared() throws {
    let catalog = try TopicCatalog(fixture.catalog.topics.filter { $0.name != QuarantineRecord.topic })
    let error = try #require(throws: MillraceError.self) {
      try QuarantineOperation(cluster.configuration, catalog: catalog)
    }
    #expect("\(error)".contains("millrace.quarantine"))
  }
}
