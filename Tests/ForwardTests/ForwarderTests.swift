// Tests one receiver at a time over real sockets, with virtual time in the worker.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import TestEnvironment
import Testing

@testable import Forward
import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct ForwarderTests {
  /// Runs a forwarder to the receiver at `url` in a harness.
  private func forwarding(
    to url: String, _ change: (inout ForwardSettings, inout MillraceConfiguration) -> Void = { _, _ in },
    _ body: @escaping @Sendable (WorkerHarness) async throws -> Void
  ) async throws {
    var setup = WorkerHarness.Setup()
    var settings = ForwardSettings()
    settings.url = url
    change(&settings, &setup.configuration)
    setup.settings = settings
    try setup.configuration.setSettings("url: \(url)", of: "forward-old")
    let exchange = AsyncHTTPExchange()
    setup.appStore = exchange
    do {
      try await WorkerHarness.run(Forwarder.self, setup, body)
      try await exchange.shutdown()
    } catch {
      try await exchange.shutdown()
      throw error
    }
  }

  private func posted(_ fixture: NotificationFixture) -> String {
    "{\"signedPayload\":\"" + String(decoding: fixture.bytes, as: UTF8.self) + "\"}"
  }

  @Test func `a notification is posted once, as Apple posts it, with additional headers for receivers`() async throws {
    try await OldReceiver.serving({ _, _ in .answer(200) }) { receiver in
      try await forwarding(to: receiver.url, { settings, _ in settings.headers = ["X-Team": "a"] }) { harness in
        let fixture = try await harness.receive(.didRenew)
        try await harness.receive(again: fixture)
        let post = try #require(receiver.posts.first)
        #expect(receiver.posts.count == 1)
        #expect(post.line == "POST /apple/notifications?v=2 HTTP/1.1")
        #expect(post.body == posted(fixture))
        #expect(post.headers["content-type"] == "application/json")
        #expect(post.headers["content-length"] == "\(post.body.utf8.count)")
        #expect(post.headers["webhook-id"] == fixture.id)
        #expect(post.headers["user-agent"] == "millrace-forward/\(MillraceVersion.current)")
        #expect(post.headers["x-team"] == "a")
        #expect(try await harness.events().isEmpty)
      }
    }
  }

  @Test func `a plain replay posts nothing, and a reapplied one posts each notification once`() async throws {
    try await OldReceiver.serving({ _, tries in .answer(tries == 0 ? 500 : 200) }) { receiver in
      try await forwarding(to: receiver.url) { harness in
        for type in [NotificationTypeV2.didRenew, .refund, .test] { try await harness.receive(type) }
        try await harness.advance(by: .seconds(60))
        #expect(receiver.posts.count == 6)
        for (reapply, posts) in [(false, 6), (true, 9), (false, 9)] {
          #expect(try harness.log.replay(to: harness.topics, reapply: reapply) == 3)
          try await harness.settle()
          #expect(receiver.posts.count == posts, "reapply: \(reapply)")
          #expect(try await harness.events().isEmpty)
          #expect(try await harness.deadLetters().isEmpty)
        }
      }
    }
  }

  @Test func `the trace context of Apple's request is passed on`() async throws {
    try await OldReceiver.serving({ _, _ in .answer(200) }) { receiver in
      try await forwarding(to: receiver.url) { harness in
        var record = try await harness.receive(.didRenew).producerRecord
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        record.headers.append(RecordHeader("traceparent", trace))
        record.headers.append(RecordHeader("ce_id", "another"))
        try await harness.receive(record)
        // The id differs from the signed one. A record must not pass as another notification.
        #expect(try await harness.deadLetters().map(\.reason) == ["headers"])
        #expect(receiver.posts.count == 1)
      }
    }
  }

  @Test func `every family and type is forwarded, including unknown types`() async throws {
    try await OldReceiver.serving({ _, _ in .answer(204) }) { receiver in
      try await forwarding(to: receiver.url) { harness in
        var bodies: Set<String> = []
        let kinds = SampleKind.all + [SampleKind(NotificationTypeV2(rawValue: "TOMORROW"))]
        for kind in kinds { bodies.insert(posted(try await harness.receive(kind.type, kind.subtype))) }
        #expect(Set(receiver.posts.map(\.body)) == bodies)
        #expect(receiver.posts.count == kinds.count)
      }
    }
  }

  @Test func `a receiver gets the apps, types and environments in its configuration`() async throws {
    try await OldReceiver.serving({ _, _ in .answer(200) }) { receiver in
      let changes: [(Int, @Sendable (inout ForwardSettings) -> Void)] = [
        (1, { $0.types = ["REFUND"] }), (2, { $0.bundleIds = [SampleApp().bundleId] }), (0, { $0.bundleIds = ["b"] }),
        (2, { $0.environments = [SampleApp().environment] }),
        (0, { $0.environments = [.xcode] }),
      ]
      for (count, change) in changes {
        let before = receiver.posts.count
        try await forwarding(to: receiver.url, { settings, _ in change(&settings) }) { harness in
          try await harness.receive(.refund)
          try await harness.receive(.didRenew)
          #expect(try await harness.deadLetters().isEmpty)
        }
        #expect(receiver.posts.count - before == count)
      }
    }
  }

  @Test(arguments: [(false, false), (true, false), (true, true)])
  func `version 1 is posted without its secret, or on request with the secret in its place`(
    isRestored: Bool, hasPlace: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write("s3cret\n", to: "secret")
    var fixtures = try NotificationFixtures(seed: 3)
    let fixture = try fixtures.nextV1(.didRenew)
    try await OldReceiver.serving({ _, _ in .answer(200) }) { receiver in
      let change = { @Sendable (settings: inout ForwardSettings, configuration: inout MillraceConfiguration) in
        settings.restorePassword = isRestored
        var app = AppSettings()
        app.bundleId = SampleApp().bundleId
        app.sharedSecretFiles = [secret, "/no/such/file"]
        configuration.apps = [app]
      }
      try await forwarding(to: receiver.url, change) { harness in
        var record = fixture.producerRecord
        // The ingress's header for `…,"password":"s3cret"}`.
        let place = "\(fixture.bytes.count - 1) 2c2270617373776f7264223a22 22"
        if hasPlace { record.headers.append(RecordHeader("ce_passwordplace", place)) }
        try await harness.receive(record)
        let kept = String(decoding: fixture.bytes, as: UTF8.self)
        #expect(kept.first == "{")
        let first = #"{"password":"s3cret","# + kept.dropFirst()
        let last = kept.dropLast() + #","password":"s3cret"}"#
        let expected = !isRestored ? kept : hasPlace ? String(last) : first
        #expect(receiver.posts.map(\.body) == [expected])
        #expect(receiver.posts.first?.headers["webhook-id"] == fixture.id)
      }
    }
  }

  @Test func `a refusal is retried as configured, then becomes a dead letter, and its key continues`() async throws {
    try await OldReceiver.serving({ post, _ in .answer(post.headers["x"] == nil ? 400 : 200) }) { receiver in
      try await forwarding(to: receiver.url, { settings, _ in settings.refusedAttempts = 3 }) { harness in
        let fixture = try await harness.receive(.didRenew)
        for wait in [10, 60] {
          #expect(try await harness.deadLetters().isEmpty)
          try await harness.advance(by: .seconds(wait))
        }
        #expect(try await harness.deadLetters().map(\.reason) == ["refused"])
        #expect(try await harness.deadLetters().first?.record.value == fixture.bytes)
        #expect(receiver.posts.count == 3)
        #expect(Set(receiver.posts.map(\.id)) == [fixture.id])
      }
    }
  }

  @Test func `a busy receiver is retried at the time that it asked for`() async throws {
    try await OldReceiver.serving({ _, tries in tries == 0 ? .answer(429, retryAfter: "600") : .answer(200) }) {
      receiver in
      try await forwarding(to: receiver.url) { harness in
        try await harness.receive(.didRenew)
        try await harness.advance(by: .seconds(599))
        #expect(receiver.posts.count == 1)
        try await harness.advance(by: .seconds(1))
        #expect(receiver.taken.count == 1)
      }
    }
  }

  @Test func `a receiver that is down for a day or loses responses gets everything in key order`()
    async throws
  {
    try await OldReceiver.serving({ _, tries in tries < 8 ? .answer(503) : tries == 8 ? .hangUp : .answer(200) }) {
      receiver in
      try await forwarding(to: receiver.url) { harness in
        var ids: [String] = []
        for _ in 0..<4 {
          ids.append(try await harness.receive(.didRenew) { $0.setOriginalTransactionId("2000000000000001") }.id)
        }
        for _ in 0..<60 { try await harness.advance(by: .seconds(21_600)) }
        #expect(try await harness.deadLetters().isEmpty)
        var order: [String] = []
        for post in receiver.taken where !order.contains(post.id) { order.append(post.id) }
        #expect(order == ids)
        // A successor is not posted while its predecessor waits.
        #expect(receiver.posts.map(\.id) == ids.flatMap { id in (0..<10).map { _ in id } })
      }
    }
  }

  @Test func `an unreachable receiver is retried for longer than Apple would`() async throws {
    let url = try await OldReceiver.serving({ _, _ in .answer(200) }) { $0.url }
    try await forwarding(to: url) { harness in
      try await harness.receive(.didRenew)
      for _ in 0..<26 { try await harness.advance(by: .seconds(21_600)) }
      #expect(try await harness.deadLetters().isEmpty, "Apple's last retry comes after 157 hours")
      for _ in 0..<10 { try await harness.advance(by: .seconds(21_600)) }
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "attempts-exhausted")
      #expect(letter.detail.contains("unreachable"))
    }
  }

  @Test func `each receiver is a worker, and a configuration without receivers is an error`() throws {
    #expect(throws: MillraceError.self) { try Forwarder.identities(in: MillraceConfiguration()) }
    var configuration = MillraceConfiguration()
    try configuration.setSettings("url: http://a", of: "forward-old")
    try configuration.setSettings("{url: http://b, families: [refunds]}", of: "forward-audit")
    let identities = try Forwarder.identities(in: configuration)
    #expect(identities.map(\.name) == ["forward-audit", "forward-old"])
    #expect(identities.map(\.families) == [[.refunds], NotificationFamily.all])
    #expect(identities.allSatisfy { $0.policy.ordering == .strict })
  }

  @Test func `the example of a worker is shorter than 300 lines`() throws {
    let files = try Project.names(in: "Sources/Forward")
    let lines = try files.map { try Project.text("Sources/Forward/\($0)").split(separator: "\n").count }
    #expect(files.count == 3)
    #expect(lines.reduce(0, +) < 300)
  }
}
