import AppStore
import AppStoreSignature
import AppStoreSigning
import KafkaClient
import Logging
import MillraceRecords
import MillraceTime
import NIOHTTP1
import Testing

@testable import Ingress
import MillraceCore

@Suite(.timeLimit(.minutes(15))) struct IngressServerTests {
  @Test func `every type and subtype is stored unchanged, with its key, in its topic`()
    async throws
  {
    let fixture = try IngressFixture()
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 1)
    let notifications = try samples.everyKind(from: IngressFixture.signedDate)
    let (stored, router) = try await fixture.run { (ingress) async throws in
      for notification in notifications {
        let answer = try await ingress.post(notification.body)
        #expect(answer.status == 200, "\(notification.kind): \(answer)")
      }
      return (try await ingress.allRecords(), ingress.catalog.router)
    }
    #expect(stored.count == notifications.count)
    for notification in notifications {
      let record = try #require(stored.first { $0.header("ce_id") == notification.notificationUUID })
      #expect(record.value == notification.jws)
      #expect(record.key == Array(notification.orderingKey.utf8))
      #expect(record.topic == router.topic(for: notification.kind.type))
      #expect(record.header("content-type") == "application/jose")
      #expect(record.header("ce_specversion") == "1.0")
      #expect(
        record.header("ce_type") == "com.apple.appstore.notification.v2.\(notification.kind.type.rawValue)")
      #expect(record.header("ce_subtype") == notification.kind.subtype?.rawValue)
      #expect(record.header("ce_subject") == notification.orderingKey)
      #expect(record.header("ce_source") == "appstore/Production/com.example.app")
      #expect(record.header("ce_time") == notification.signedDate.rfc3339)
      #expect(record.header("ce_origin") == "post")
    }
  }

  @Test func `a process reports how many requests it refused, by reason`() async throws {
    let fixture = try IngressFixture()
    func newest(_ records: [ConsumerRecord]) throws -> ProcessReport? {
      try records.last?.value.flatMap { ProcessReport(try JSONObject(parsing: $0)) }
    }
    try await fixture.run { (ingress) async throws in
      for _ in 0..<2 { #expect(try await ingress.post(Array("{}".utf8)).status == 400) }
      #expect(try await ingress.post(Array("{}".utf8), to: "/v3").status == 404)
      var report: ProcessReport?
      while report?.refusals.count != 2 {
        report = try newest(try await ingress.records(of: ProcessReport.ingressTopic))
        await Task.yield()
      }
      #expect(report?.refusals.map { [$0.reason, "\($0.count)"] } == [["malformed", "2"], ["wrong-path", "1"]])
      #expect(report?.startedAt.map { $0 <= MillraceClock.system.wallTime } == true && report?.name == "ingress")
    }
  }

  @Test func `a version 1 notification of every type is stored without its secret`() async throws {
    let fixture = try IngressFixture()
    var samples = SampleNotificationsV1(app: fixture.app, password: IngressFixture.password, seed: 2)
    var bare = SampleNotificationsV1(app: fixture.app, password: nil, seed: 2)
    let pairs = NotificationTypeV1.allKnown.map { type in
      (
        type, samples.next(type, at: IngressFixture.signedDate), bare.next(type, at: IngressFixture.signedDate)
      )
    }
    let (stored, router) = try await fixture.run { (ingress) async throws in
      for (type, posted, _) in pairs {
        #expect(try await ingress.post(posted.body, to: "/v1").status == 200, "\(type.rawValue)")
      }
      return (try await ingress.allRecords(), ingress.catalog.router)
    }
    #expect(stored.count == pairs.count)
    for (type, posted, bare) in pairs {
      // The stored value must equal the same body made without a password.
      let record = try #require(stored.first { $0.value == bare.body })
      #expect(record.topic == router.topic(for: type))
      #expect(record.key == Array(posted.originalTransactionId.utf8))
      #expect(record.header("content-type") == "application/json")
      #expect(record.header("ce_type") == "com.apple.appstore.notification.v1.\(type.rawValue)")
      #expect(record.header("ce_subtype") == nil)
    }
    for record in stored {
      #expect(!contains(record.value ?? [], Array(IngressFixture.password.utf8)))
    }
  }

  @Test func `each forgery is refused with its own status and none is stored as a notification`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.trust.innerTokens = .verified
    let forgeries = try Forgeries(
      chain: fixture.chain, app: fixture.app, signedDate: IngressFixture.signedDate, seed: 3
    ).all()
    try await fixture.run { (ingress) async throws in
      for forgery in forgeries {
        let answer = try await ingress.post(body(forgery.jws))
        #expect(answer.status == expectedStatus(forgery), "\(forgery.label): \(answer)")
        #expect(answer.contentType == "application/problem+json", "\(forgery.label)")
        #expect((answer.retryAfter != nil) == (answer.status == 503), "\(forgery.label)")
      }
      for topic in ingress.catalog.notificationTopics {
        #expect(try await ingress.records(of: topic.name).isEmpty, "\(topic.name)")
      }
      let kept = try await ingress.records(of: QuarantineRecord.topic)
      let worthKeeping = forgeries.filter { isWorthKeeping($0) }.map(\.jws)
      #expect(Set(kept.map(\.value)) == Set(worthKeeping))
      #expect(kept.allSatisfy { QuarantineRecord($0)?.reason != nil })
      // Partition 0 holds bodies whose outer token only Apple can have signed, partition 1 bodies that anyone can make.
      let unproven = copies(of: forgeries) { forgery in
        if case .refused(let reason) = forgery.expectation { reason.hasPrefix("chain") } else { false }
      }
      #expect(Set(kept.filter { $0.partition == 1 }.map(\.value)) == Set(unproven))
    }
  }

  private func copies(of forgeries: [Forgery], where isMeant: (Forgery) -> Bool) -> [[UInt8]] {
    forgeries.filter { isWorthKeeping($0) && isMeant($0) }.map(\.jws)
  }

  @Test func `a notification vouches for its inner tokens, and is refused if their claims differ`() async throws {
    let fixture = try IngressFixture()
    let inside = try Forgeries(
      chain: fixture.chain, app: fixture.app, signedDate: IngressFixture.signedDate, seed: 3
    ).all().filter { [.innerForged, .innerMismatch].contains($0.expectation) }
    #expect(inside.count > 2)
    let forgeries = inside
    try await fixture.run { (ingress) async throws in
      var stored: Set<[UInt8]?> = []
      for forgery in forgeries {
        let answer = try await ingress.post(body(forgery.jws))
        let agrees = ["inner-by-stranger", "inner-renewal-by-stranger"].contains(forgery.label)
        #expect(answer.status == (agrees ? 200 : 401), "\(forgery.label): \(answer)")
        if agrees { stored.insert(forgery.jws) }
      }
      var found: Set<[UInt8]?> = []
      for topic in ingress.catalog.notificationTopics {
        found.formUnion(try await ingress.records(of: topic.name).map(\.value))
      }
      #expect(found == stored && !stored.isEmpty)
    }
  }

  private func expectedStatus(_ forgery: Forgery) -> Int {
    switch forgery.expectation {
    case .innerMismatch, .innerForged: return forgery.isOnlyChainFault ? 503 : 401
    case .refused(let reason):
      switch reason {
      case "format", "certificate": return 400
      case "chain", "chain-length": return forgery.isOnlyChainFault ? 503 : 401
      case "app-identifier", "environment": return 503
      default: return 401
      }
    }
  }

  private func isWorthKeeping(_ forgery: Forgery) -> Bool {
    switch forgery.expectation {
    case .innerMismatch, .innerForged: true
    case .refused(let reason): forgery.isOnlyChainFault || ["app-identifier", "environment"].contains(reason)
    }
  }

  @Test func `an operator can refuse bodies that cannot be verified`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.unverifiable = .refuse
    let other = try SigningChain.generate(
      notBefore: IngressFixture.signedDate + .seconds(-60), notAfter: IngressFixture.signedDate + .seconds(60))
    var samples = SampleNotifications(chain: other, app: fixture.app, seed: 4)
    let foreign = try samples.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate)
    try await fixture.run { (ingress) async throws in
      #expect(try await ingress.post(foreign.body).status == 401)
      #expect(try await ingress.records(of: QuarantineRecord.topic).count == 1)
    }
  }

  @Test func `the quarantine copies no more bodies than its allowance`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.quarantinePerMinute = 3
    let other = try SigningChain.generate(
      notBefore: IngressFixture.signedDate + .seconds(-60), notAfter: IngressFixture.signedDate + .seconds(60))
    var samples = SampleNotifications(chain: other, app: fixture.app, seed: 5)
    let foreign = try (0..<20).map { _ in
      try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate).body
    }
    try await fixture.run { (ingress) async throws in
      let began = ContinuousClock.now
      for body in foreign { #expect(try await ingress.post(body).status == 503) }
      // Three at once, then one every 20 seconds.
      let most = 4 + Int((ContinuousClock.now - began) / .seconds(20))
      #expect((3...most).contains(try await ingress.records(of: QuarantineRecord.topic).count))
      #expect(ingress.metrics.render().contains(#"outcome="over-allowance""#))
    }
  }

  @Test func `a body that is posted repeatedly is copied once`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.quarantinePerMinute = 3
    var samples = SampleNotifications(chain: fixture.chain, app: SampleApp(bundleId: "com.example.other"), seed: 8)
    let foreign = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    let another = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    try await fixture.run { (ingress) async throws in
      for _ in 0..<20 { #expect(try await ingress.post(foreign.body).status == 503) }
      // The repeated posts have not used up the allowance.
      #expect(try await ingress.post(another.body).status == 503)
      let kept = try await ingress.records(of: QuarantineRecord.topic)
      #expect(kept.map(\.value) == [foreign.jws, another.jws])
      #expect(ingress.metrics.render().contains(#"quarantined_total{outcome="already-kept"} 19"#))
    }
  }

  /// Every device has such tokens. Apple signed them, so they could pass for a notification of another app.
  @Test func `a transaction signed by Apple is not a notification and is refused without a copy`() async throws {
    let fixture = try IngressFixture()
    var samples = SampleNotifications(chain: fixture.chain, app: SampleApp(bundleId: "com.example.other"), seed: 9)
    let data = try ResponseBodyV2DecodedPayload(
      json: UnverifiedToken(
        parsing: samples.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate).jws
      ).payload
    ).data
    let transaction = Array(try #require(data?.signedTransactionInfo).utf8)
    let renewalInfo = Array(try #require(data?.signedRenewalInfo).utf8)
    try await fixture.run { (ingress) async throws in
      #expect(try await ingress.post(body(transaction)).status == 400)
      #expect(try await ingress.post(body(renewalInfo)).status == 400)
      #expect(try await ingress.records(of: QuarantineRecord.topic).isEmpty)
      #expect(!ingress.metrics.render().contains("quarantined_total{"))
    }
  }

  @Test(arguments: [
    ("", 400, 400), ("null", 400, 400), ("[]", 400, 400), ("{}", 400, 401), (#"{"signedPayload":1}"#, 400, 401),
    (#"{"signedPayload":"a.b"}"#, 400, 401), (#"{"signedPayload":"a.b.c"}"#, 400, 401), ("\u{FF}", 400, 400),
    (String(repeating: "[", count: 100_000), 400, 400), (#"{"password":"\#(IngressFixture.password)"}"#, 400, 400),
  ])
  func `a body that is not a notification is malformed, or lacks the secret in version 1`(
    text: String, v2: Int, v1: Int
  ) async throws {
    let fixture = try IngressFixture()
    try await fixture.run { (ingress) async throws in
      #expect(try await ingress.post(Array(text.utf8)).status == v2)
      #expect(try await ingress.post(Array(text.utf8), to: "/v1").status == v1)
    }
  }

  @Test func `paths, methods and sizes are checked before the body`() async throws {
    var fixture = try IngressFixture()
    fixture.configuration.ingress.maxBodyBytes.v2 = 1000
    try await fixture.run { (ingress) async throws in
      #expect(try await ingress.post([], to: "/").status == 404)
      #expect(try await ingress.post([], to: "/v2/").status == 404)
      #expect(try await ingress.post([], method: .PUT).status == 405)
      let answer = try await ingress.post([UInt8](repeating: 0x20, count: 1001))
      #expect(answer.status == 413)
      #expect(answer.body.contains(#""status":413"#))
      #expect(try await ingress.post([UInt8](repeating: 0x20, count: 1000)).status == 400)
      // A chunked body announces no length, so the ingress counts the bytes that arrive.
      let chunked = try await ingress.post([UInt8](repeating: 0x20, count: 1001), isChunked: true)
      #expect(chunked.status == 413)
    }
  }

  @Test func `a wrong secret is answered with 401, an unknown app or environment with 503`() async throws {
    let fixture = try IngressFixture()
    func body(_ app: SampleApp, password: String?) -> [UInt8] {
      var samples = SampleNotificationsV1(app: app, password: password, seed: 6)
      return samples.next(.didRenew, at: IngressFixture.signedDate).body
    }
    let cases: [([UInt8], Int)] = [
      (body(fixture.app, password: "wrong"), 401),
      (body(fixture.app, password: nil), 401),
      (body(SampleApp(bundleId: "com.example.other"), password: IngressFixture.password), 503),
      (body(SampleApp(environment: .sandbox), password: IngressFixture.password), 503),
    ]
    try await fixture.run { (ingress) async throws in
      for (index, (body, status)) in cases.enumerated() {
        #expect(try await ingress.post(body, to: "/v1").status == status, "case \(index)")
      }
      let kept = try await ingress.records(of: QuarantineRecord.topic)
      #expect(kept.count == 2)
      for record in kept { #expect(!contains(record.value ?? [], Array(IngressFixture.password.utf8))) }
    }
  }

  @Test func `the record carries the trace context of the request`() async throws {
    let fixture = try IngressFixture()
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: 7)
    let notification = try samples.next(SampleKind(.test), signedDate: IngressFixture.signedDate)
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try await fixture.run { (ingress) async throws in
      _ = try await ingress.post(notification.body, headers: [("traceparent", trace)])
      let record = try #require(try await ingress.allRecords().first)
      #expect(record.header("traceparent") == trace)
    }
  }

  private func body(_ jws: [UInt8]) -> [UInt8] {
    Array(#"{"signedPayload":""#.utf8) + jws + Array(#""}"#.utf8)
  }
}

/// Whether `needle` occurs in `haystack`.
func contains(_ haystack: [UInt8], _ needle: [UInt8]) -> Bool {
  guard !needle.isEmpty, haystack.count >= needle.count else { return needle.isEmpty }
  return (0...(haystack.count - needle.count)).contains { haystack[$0...].starts(with: needle) }
}
