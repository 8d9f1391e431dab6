// Compares samples with Apple's notifications: types, the right part, the order of members, and a realistic size.
import AppStore
import AppStoreSigning
import Testing

@Suite("Sample notifications")
struct SampleNotificationsTests {
  private let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let seed: UInt64 = 0x5EED

  private func payload(_ jws: [UInt8]) throws -> ResponseBodyV2DecodedPayload {
    let segments = jws.split(separator: UInt8(ascii: "."))
    try #require(segments.count == 3)
    return try ResponseBodyV2DecodedPayload(parsing: try #require(Base64.decodeURL(segments[1])))
  }

  @Test("every documented type has a sample, and no sample has an unknown type or subtype")
  func everyType() throws {
    #expect(Set(SampleKind.all.map(\.type)) == Set(NotificationTypeV2.allKnown))
    #expect(SampleKind.all.allSatisfy { $0.type.isKnown && ($0.subtype?.isKnown ?? true) })
    #expect(Set(SampleKind.all).count == SampleKind.all.count)
  }

  @Test("every sample has its values and no undocumented field")
  func content() throws {
    let chain = try SigningChain.generate(at: date)
    for environment in [AppStoreEnvironment.production, .sandbox] {
      let app = SampleApp(environment: environment)
      var samples = SampleNotifications(chain: chain, app: app, seed: seed)
      for sample in try samples.everyKind(from: date) {
        let payload = try payload(sample.jws)
        let comment: Comment = "\(sample.kind), seed \(seed)"
        #expect(payload.notificationType == sample.kind.type, comment)
        #expect(payload.subtype == sample.kind.subtype, comment)
        #expect(payload.json.members.contains { $0.key == "subtype" } == (sample.kind.subtype != nil), comment)
        #expect(payload.notificationUUID == sample.notificationUUID, comment)
        #expect(payload.signedDate == sample.signedDate, comment)
        #expect(payload.environment == environment, comment)
        #expect(payload.bundleId == app.bundleId, comment)
        #expect(payload.oddFields.isEmpty, comment)
      }
    }
  }

  @Test("each type has the part that Apple gives it")
  func parts() throws {
    var samples = SampleNotifications(chain: try SigningChain.generate(at: date), seed: seed)
    let parts = ["data", "summary", "externalPurchaseToken", "appData"]
    for sample in try samples.everyKind(from: date) {
      let expected =
        switch (sample.kind.type, sample.kind.subtype) {
        case (.renewalExtension, .summary?): "summary"
        case (.externalPurchaseToken, _): "externalPurchaseToken"
        case (.rescindConsent, _): "appData"
        default: "data"
        }
      let found = try payload(sample.jws).json.members.map(\.key).filter(parts.contains)
      #expect(found == [expected], "\(sample.kind), seed \(seed)")
    }
  }

  @Test("a subscription's sample is as large as Apple's, 17 to 19 kB")
  func size() throws {
    var samples = SampleNotifications(chain: try SigningChain.generate(at: date), seed: seed)
    let renewal = try samples.next(SampleKind(.didRenew), signedDate: date)
    #expect((17_000...19_500).contains(renewal.jws.count), "\(renewal.jws.count) bytes")
    let test = try samples.next(SampleKind(.test), signedDate: date)
    #expect((4_000...5_500).contains(test.jws.count), "\(test.jws.count) bytes")
  }

  @Test("members are in Apple's order")
  func order() throws {
    var samples = SampleNotifications(chain: try SigningChain.generate(at: date), seed: seed)
    let payload = try payload(try samples.next(SampleKind(.subscribed, .resubscribe), signedDate: date).jws)
    #expect(
      payload.json.members.map(\.key)
        == ["notificationType", "subtype", "notificationUUID", "data", "version", "signedDate"])
    #expect(
      payload.data?.json.members.map(\.key)
        == [
          "appAppleId", "bundleId", "bundleVersion", "environment", "signedTransactionInfo", "signedRenewalInfo",
          "status",
        ])
  }

  @Test("a seed determines the sequence of identifiers")
  func determinism() throws {
    let chain = try SigningChain.generate(at: date)
    var first = SampleNotifications(chain: chain, seed: seed)
    var second = SampleNotifications(chain: chain, seed: seed)
    let identifiers = { (samples: [SampleNotification]) in samples.flatMap { [$0.notificationUUID, $0.orderingKey] } }
    #expect(try identifiers(first.everyKind(from: date)) == identifiers(second.everyKind(from: date)))
  }

  @Test("the posted body wraps the token as signedPayload")
  func body() throws {
    var samples = SampleNotifications(chain: try SigningChain.generate(at: date), seed: seed)
    let sample = try samples.next(SampleKind(.test), signedDate: date)
    #expect(try ResponseBodyV2(parsing: sample.body).signedPayload == String(decoding: sample.jws, as: UTF8.self))
  }
}
