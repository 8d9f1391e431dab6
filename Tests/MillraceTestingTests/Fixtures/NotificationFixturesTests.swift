import AppStore
import AppStoreSignature
import AppStoreSigning
import KafkaClient
import MillraceRecords
import MillraceTesting
import Testing

@Suite struct NotificationFixturesTests {
  @Test func `every kind is a valid notification, and its headers can be read back`() async throws {
    var fixtures = try NotificationFixtures(seed: 1)
    let all = try await fixtures.everyKind()
    #expect(all.count == SampleKind.all.count)
    #expect(Set(all.map(\.id)).count == all.count)
    for (fixture, kind) in zip(all, SampleKind.all) {
      let envelope = NotificationEnvelope(fixture.consumerRecord(timestamp: 1))
      #expect(envelope.problems.isEmpty, "\(kind)")
      #expect(envelope.notificationType == kind.type.rawValue)
      #expect(envelope.subtype == kind.subtype)
      #expect(envelope.id == fixture.id)
      #expect(envelope.bundleId == fixtures.app.bundleId)
    }
  }

  @Test func `a changed notification is signed and verifies`() async throws {
    var fixtures = try NotificationFixtures(seed: 2)
    let fixture = try await fixtures.next(SampleKind(.refund), to: "refunds") { draft in
      draft.setOriginalTransactionId("2000000000000042")
      draft.transaction?["productId"] = .string("coins.100")
      draft.payload["notificationUUID"] = .string("id-1")
    }
    #expect(fixture.key == "2000000000000042")
    #expect(fixture.id == "id-1")
    #expect(fixture.producerRecord.topic == "refunds")
    let verified = try await fixtures.verifier.verifyNotification(fixture.bytes, identity: fixtures.identities)
    #expect(verified.transaction?.payload.productId == "coins.100")
    #expect(verified.payload.notificationUUID == "id-1")
  }

  @Test func `the same seed makes the same notifications, one second apart`() async throws {
    var (one, other) = (try NotificationFixtures(seed: 3), try NotificationFixtures(seed: 3))
    let first = try await one.next(SampleKind(.didRenew))
    #expect(try await other.next(SampleKind(.didRenew)).id == first.id)
    let second = try await one.next(SampleKind(.didRenew))
    #expect(first.record.event.time.map { $0 + .seconds(1) } == second.record.event.time)
  }

  @Test func `a version 1 body has no password`() throws {
    var fixtures = try NotificationFixtures(seed: 4)
    let fixture = try fixtures.nextV1(.refund)
    #expect(NotificationEnvelope(fixture.producerRecord.headers).version == .v1)
    #expect(try JSONObject(parsing: fixture.bytes)["password"] == nil)
  }
}
