import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationSignerTests {
  private let now = Timestamp.newYear + .seconds(3_600)

  private func subjects(_ world: World, in realm: RealmID) -> [NotificationSubject] {
    world.withState { state in state.realms[realm].log.records.map { state.subject(of: $0) } }
  }

  @Test(arguments: [Rehearsal.production, Rehearsal.sandbox])
  func `every type and subtype can be sent alone, and verifies with its inner tokens`(realm: RealmID) async throws {
    let signer = try Rehearsal.signer()
    var configuration = SignedDataVerifier.Configuration()
    configuration.innerTokens = .verified
    configuration.trustedRoots = [signer.leaves.rootDER]
    let verifier = try SignedDataVerifier(configuration)
    for kind in SampleKind.all {
      let world = Rehearsal.world()
      try world.withState { state throws(WorldError) in try state.send(kind, in: realm, at: now) }
      let subjects = subjects(world, in: realm)
      #expect(subjects.map(\.facts.kind) == [kind])
      let subject = try #require(subjects.first)
      let found = try await verifier.verifyNotification(
        signer.sign(subject).jws, identity: Rehearsal.policy(realm))
      #expect(found.inner == .verified, "\(kind)")
      #expect(found.payload.notificationType == kind.type)
      #expect(found.payload.subtype == kind.subtype)
      #expect(found.payload.notificationUUID == subject.facts.uuid.text)
      #expect(found.payload.oddFields.isEmpty, "\(kind)")
      #expect(found.transaction?.payload.oddFields.isEmpty ?? true, "\(kind)")
      #expect(found.renewalInfo?.payload.oddFields.isEmpty ?? true, "\(kind)")
      try checkPresence(found, kind, realm)
    }
  }

  /// Checks the presence of fields as observed in Apple's own notifications.
  private func checkPresence(_ found: VerifiedNotification, _ kind: SampleKind, _ realm: RealmID) throws {
    let payload = found.payload.json
    #expect((payload["subtype"] == nil) == (kind.subtype == nil), "\(kind)")
    let members = payload.members.map(\.key)
    if let data = found.payload.data {
      let head = kind.subtype == nil ? ["notificationType"] : ["notificationType", "subtype"]
      #expect(members == head + ["notificationUUID", "data", "version", "signedDate"])
      let isTest = kind.type == .test
      #expect((data.appAppleId == nil) == (isTest && realm == Rehearsal.sandbox), "\(kind)")
      #expect((data.signedTransactionInfo == nil) == isTest, "\(kind)")
      #expect((data.bundleVersion == nil) == isTest, "\(kind)")
      let isSubscription = found.transaction?.payload.type == .autoRenewableSubscription
      #expect((data.signedRenewalInfo != nil) == isSubscription, "\(kind)")
      #expect((data.status != nil) == isSubscription, "\(kind)")
      #expect((data.consumptionRequestReason != nil) == (kind.type == .consumptionRequest), "\(kind)")
    } else {
      #expect(["summary", "externalPurchaseToken", "appData"].contains(members.last ?? ""), "\(kind)")
    }
    if let renewal = found.renewalInfo?.payload {
      let hasPrice = renewal.autoRenewStatus == .on || kind.type == .refund
      #expect((renewal.json["renewalPrice"] != nil) == hasPrice, "\(kind)")
      #expect((renewal.json["currency"] != nil) == hasPrice, "\(kind)")
      #expect((renewal.json["isInBillingRetryPeriod"] == nil) == (renewal.expirationIntent == nil), "\(kind)")
    }
    if kind.type == .didRenew, kind.subtype == nil {
      let purchased = try #require(found.transaction?.payload.purchaseDate)
      #expect(purchased > (try #require(found.payload.signedDate)))
    }
    if let signed = found.transaction?.payload.signedDate {
      #expect(signed <= (try #require(found.payload.signedDate)))
    }
    if let token = found.payload.externalPurchaseToken {
      #expect((token.externalPurchaseId?.hasPrefix("SANDBOX_") == true) == (realm == Rehearsal.sandbox))
    }
  }

  @Test func `bodies have sizes like Apple's`() throws {
    let signer = try Rehearsal.signer()
    func size(_ kind: SampleKind) throws -> Int {
      let world = Rehearsal.world()
      try world.withState { state throws(WorldError) in try state.send(kind, in: Rehearsal.production, at: now) }
      return postBody(try signer.sign(try #require(subjects(world, in: Rehearsal.production).first)).jws).count
    }
    #expect((4_500...5_200).contains(try size(SampleKind(.test))))
    #expect((11_000...12_500).contains(try size(SampleKind(.oneTimeCharge))))
    #expect((17_000...19_500).contains(try size(SampleKind(.didRenew))))
  }

  @Test func `with the first signatures the token is the same, without them it differs`() throws {
    let signer = try Rehearsal.signer()
    for kind in [SampleKind(.didRenew), SampleKind(.test), SampleKind(.rescindConsent), SampleKind(.oneTimeCharge)] {
      let world = Rehearsal.world()
      try world.withState { state throws(WorldError) in try state.send(kind, in: Rehearsal.production, at: now) }
      let first = try signer.sign(try #require(subjects(world, in: Rehearsal.production).first))
      #expect(first.jws != (try signer.sign(try #require(subjects(world, in: Rehearsal.production).first)).jws))
      world.withState { state in state.realms[0].log.update(0) { $0.signatures = first.signatures } }
      #expect(first.jws == (try signer.sign(try #require(subjects(world, in: Rehearsal.production).first)).jws))
    }
  }

  @Test func `a notification has the state of its time, regardless of later events`() async throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: now)
    try world.withState { state in
      try state.setRenewal(original, isOn: false, at: now + .seconds(10))
      try state.refund(original, at: now + .seconds(20))
    }
    let subject = try #require(subjects(world, in: Rehearsal.production).first)
    guard case .purchase(let purchase, _) = subject.content else {
      Issue.record("no purchase")
      return
    }
    #expect(purchase.renewalPayload(signedDate: now)?["autoRenewStatus"] == 1)
    #expect(purchase.transactionPayload(signedDate: now)["revocationDate"] == nil)
  }
}
