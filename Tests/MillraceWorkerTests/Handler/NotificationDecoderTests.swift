import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct NotificationDecoderTests {
  private static let signedDate = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func decode(_ record: ConsumerRecord, _ fixtures: NotificationFixtures) async throws -> AppStoreNotification {
    let decoder = NotificationDecoder(verifier: fixtures.verifier, identities: fixtures.identities)
    return try await decoder.decode(
      record, envelope: NotificationEnvelope(record), history: DeliveryHistory(record))
  }

  @Test func `the key and the IDs in headers must match the value of a record`() async throws {
    var fixtures = try NotificationFixtures(from: Self.signedDate, seed: 5)
    let fixture = try await fixtures.next(SampleKind(.didRenew))
    let genuine = fixture.consumerRecord(timestamp: 1)
    #expect(try await decode(genuine, fixtures).key == fixture.key)

    var key = genuine
    key.key = Array("another".utf8)
    var keyless = genuine
    keyless.key = nil
    var subject = genuine
    subject.headers = subject.headers.map { $0.name == "ce_subject" ? RecordHeader("ce_subject", "another") : $0 }
    var id = genuine
    id.headers = id.headers.map { $0.name == "ce_id" ? RecordHeader("ce_id", "another") : $0 }
    for (record, part) in [(key, "key"), (keyless, "key"), (subject, "ce_subject"), (id, "ce_id")] {
      let error = await #expect(throws: UndecodableRecord.self) { try await decode(record, fixtures) }
      #expect(error?.reason == .headers)
      #expect(error?.description.contains(part) == true)
      #expect(error?.isTemporary == false)
    }
  }
}
