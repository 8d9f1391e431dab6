import AppStore
import AppStoreServerAPI

import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import TestEnvironment
import Testing

@testable import HTTPWorkers
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(10))) struct HTTPWorkerTests {
  private static let key = "2000000000000001"

  private static func sending(_ harness: WorkerHarness, _ type: NotificationTypeV2 = .didRenew) async throws {
    try await harness.receive(type) { $0.setOriginalTransactionId(key) }
  }

  @Test func `every kind of notification reaches the endpoint in the published form, without tokens`() async throws {
    let endpoint = try StubEndpoint { _ in .nothing }
    try await endpoint.run(families: NotificationFamily.all.map(\.rawValue)) { harness in
      for kind in SampleKind.all { try await harness.receive(kind.type, kind.subtype) }
      let requests = endpoint.requests
      #expect(requests.count == SampleKind.all.count && Set(requests.map(\.id)).count == requests.count)
      for (kind, request) in zip(SampleKind.all, requests) {
        #expect(request["notification", "type"] == .string(kind.type.rawValue))
        #expect(request["notification", "subtype"] == kind.subtype.map { .string($0.rawValue) })
        #expect(request["notification", "version"] == 2 && request["notification", "payload"] != nil)
        #expect(!String(decoding: request.json.serialized(), as: UTF8.self).contains("eyJ"))
        #expect(request["state"] == .null && request["attempt"] == 1 && request["replay"] == false)
        #expect(request.headers["user-agent"]?.hasPrefix("millrace-worker/") == true)
      }
      let renewal = try #require(requests.first { $0["notification", "type"] == "DID_RENEW" })
      #expect(renewal["notification", "family"] == "subscriptions")
      #expect(renewal["notification", "transaction"] != nil && renewal["notification", "renewalInfo"] != nil)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test(arguments: [HandlerSettings.Payload.full, .decoded, .minimal])
  func `payload decides how much of a notification leaves`(payload: HandlerSettings.Payload) async throws {
    let endpoint = try StubEndpoint { _ in .nothing }
    try await endpoint.run(change: { $0.handler.payload = payload }) { harness in
      let fixture = try await harness.receive(.didRenew)
      let request = try #require(endpoint.requests.first)
      #expect((request["notification", "transaction"] != nil) == (payload != .minimal))
      #expect((request["notification", "payload"] != nil) == (payload != .minimal))
      let token = JSON.string(String(decoding: fixture.bytes, as: UTF8.self))
      #expect(request["notification", "signedPayload"] == (payload == .full ? token : nil))
      #expect(request["notification", "bundleId"] != nil && request["notification", "signedDate"] != nil)
    }
  }

  @Test func `events, state and timers are committed, and the next request has the state`() async throws {
    let endpoint = try StubEndpoint { request in
      switch request.kind {
      case "notification":
        .outcome([
          "events": [["name": "seen", "data": ["before": request["state"] ?? .null]]], "state": ["n": 1],
          "timers": [
            ["name": "mail", "at": .string((ManualClock().clock.wallTime + .seconds(600)).rfc3339), "payload": [7]]
          ],
        ])
      default:
        .outcome([
          "events": [["name": "fired", "data": ["timer": request["timer"] ?? .null], "key": "other"]], "state": .null,
        ])
      }
    }
    try await endpoint.run { harness in
      for _ in 0..<2 { try await Self.sending(harness) }
      #expect(try await harness.events().map(\.data) == [["before": .null], ["before": ["n": 1]]])
      try await harness.advance(by: .seconds(599))
      #expect(endpoint.requests.count == 2)
      try await harness.advance(by: .seconds(1))
      let at = (ManualClock().clock.wallTime + .seconds(600)).rfc3339
      let fired = try #require(try await harness.events().last)
      #expect(fired.data == ["timer": ["name": "mail", "at": .string(at), "payload": [7]]] && fired.key == "other")
      #expect(endpoint.requests.last?["state"] == ["n": 1])
      try await Self.sending(harness)
      let last = try #require(endpoint.requests.last { $0.kind == "notification" })
      #expect(last["state"] == .null, "the timer removed it")
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `a timer that is cancelled does not come`() async throws {
    let endpoint = try StubEndpoint { request in
      let at: JSON =
        request["notification", "type"] == "EXPIRED"
        ? .null : .string((ManualClock().clock.wallTime + .seconds(600)).rfc3339)
      return .outcome(["timers": [["name": "mail", "at": at]]])
    }
    try await endpoint.run { harness in
      try await Self.sending(harness)
      try await Self.sending(harness, .expired)
      try await harness.advance(by: .seconds(3_600))
      #expect(endpoint.requests.map(\.kind) == ["notification", "notification"])
    }
  }

  @Test func `a failed attempt comes again with the same id, and the last one makes a dead letter`() async throws {
    let endpoint = try StubEndpoint { _ in .answer(500) }
    try await endpoint.run(change: { $0.maximumAttempts = 3 }) { harness in
      try await Self.sending(harness)
      for _ in 0..<20 { try await harness.advance(by: .seconds(60)) }
      #expect(endpoint.requests.map(\.attempt) == [1, 2, 3] && Set(endpoint.requests.map(\.id)).count == 1)
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "attempts-exhausted" && letter.detail.contains("endpoint-error: answered 500"))
    }
  }

  @Test(
    arguments: [
      (.answer(503), "endpoint-error"), (.fail(.unclear), "endpoint-unreachable"),
      (.fail(.notSent), "endpoint-unreachable"),
      (.silence, "endpoint-timeout"), (.outcome(["retry": ["reason": "crm-down", "after": 1]]), "crm-down"),
    ] as [(StubEndpoint.Reply, String)])
  func `a failure is retried and counts an attempt`(reply: StubEndpoint.Reply, reason: String) async throws {
    let endpoint = try StubEndpoint { $0.attempt == 1 ? reply : .nothing }
    try await endpoint.run(change: { $0.handler.timeout = .milliseconds(100) }) { harness in
      try await Self.sending(harness)
      let delayed = try #require(await harness.delayed()[0].first)
      #expect(DeliveryHistory(delayed).attempt == 1)
      #expect(DeliveryHistory(delayed).causes.first?.contains(reason) == true)
      try await harness.advance(by: .seconds(10))
      // After a broken connection the request is sent once more at once.
      let isResent = if case .fail(.unclear) = reply { true } else { false }
      #expect(endpoint.requests.map(\.attempt) == (isResent ? [1, 1, 2] : [1, 2]))
      #expect(Set(endpoint.requests.map(\.id)).count == 1)
    }
  }

  @Test(
    arguments: [
      (.answer(429, ["retry-after": "20"]), "endpoint-busy"), (.answer(503, ["retry-after": "20"]), "endpoint-busy"),
      (.answer(401), "endpoint-misconfigured"), (.answer(404), "endpoint-misconfigured"),
      (.answer(302), "endpoint-misconfigured"),
    ] as [(StubEndpoint.Reply, String)])
  func `an answer that asks to wait counts no attempt`(reply: StubEndpoint.Reply, reason: String) async throws {
    let first = Mutex(true)
    let endpoint = try StubEndpoint { _ in
      first.withLock { first in
        defer { first = false }
        return first ? reply : .nothing
      }
    }
    try await endpoint.run { harness in
      try await Self.sending(harness)
      let delayed = try #require(await harness.delayed().flatMap(\.self).first)
      #expect(DeliveryHistory(delayed).attempt == 0)
      for _ in 0..<10 { try await harness.advance(by: .seconds(10)) }
      #expect(endpoint.requests.map(\.attempt) == [1, 1], "\(reason)")
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test(
    arguments: [
      (.answer(422, [:], #"{"title": "no such customer"}"#), "endpoint-refused", "422: no such customer"),
      (.answer(400, [:], "?"), "endpoint-refused", "400: answered 400"),
      (.answer(200, ["content-type": "application/json"], #"{"stat": 1}"#), "invalid-outcome", "$.stat"),
      (.answer(200, ["content-type": "text/html"], "<html>"), "invalid-outcome", "content type"),
      (.outcome(["deadLetter": ["reason": "no-customer", "detail": "none"]]), "no-customer", "none"),
    ] as [(StubEndpoint.Reply, String, String)])
  func `an endpoint that gives up makes a dead letter`(
    reply: StubEndpoint.Reply, reason: String, detail: String
  ) async throws {
    let endpoint = try StubEndpoint { _ in reply }
    try await endpoint.run { harness in
      try await Self.sending(harness)
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == reason && letter.detail.contains(detail), "\(letter)")
      #expect(endpoint.requests.count == 1)
    }
  }

  @Test func `a timer is retried by the schedule and becomes a dead letter that a requeue sets again`() async throws {
    let isMended = Mutex(false)
    let endpoint = try StubEndpoint { request in
      guard request.kind == "timer" else {
        let at = (ManualClock().clock.wallTime + .seconds(60)).rfc3339
        return .outcome(["timers": [["name": "mail", "at": .string(at), "payload": "p"]]])
      }
      return isMended.withLock { $0 } ? .outcome(["events": [["name": "mailed", "data": [:]]]]) : .answer(500)
    }
    try await endpoint.run(change: { $0.maximumAttempts = 3 }) { harness in
      try await Self.sending(harness)
      for _ in 0..<30 { try await harness.advance(by: .seconds(10)) }
      let timers = endpoint.requests.filter { $0.kind == "timer" }
      #expect(timers.map(\.attempt) == [1, 2, 3] && Set(timers.map(\.id)).count == 1)
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "attempts-exhausted" && letter.detail.contains("endpoint-error"))
      let dead = try #require(NamedTimer(letter.record))
      #expect(dead.name == "timer/\(Self.key)/mail")
      let entry = try #require(StoredEntry(bytes: dead.timer.payload))
      #expect(entry.content == .timer(payload: "p"))
      #expect(dead.timer.at == entry.at, "a requeue sets the original time, which is due at once")
      #expect(dead.timer.failures == nil, "a requeue begins anew")
      isMended.withLock { $0 = true }
      try await harness.advance(by: .seconds(3_600))
      #expect(endpoint.requests.count == 4, "nothing fires without a requeue")
    }
  }

  @Test func `while the endpoint is down, records wait without attempts, and later all of them are handled`()
    async throws
  {
    let isUp = Mutex(false)
    let endpoint = try StubEndpoint { _ in
      isUp.withLock { $0 } ? .outcome(["events": [["name": "seen", "data": [:]]]]) : .answer(500)
    }
    let metrics = PrometheusRegistry()
    try await endpoint.run(metrics: metrics) { harness in
      // The first three fail, and the circuit opens. The fourth waits in its handler until it is the probe.
      for _ in 0..<3 { try await harness.receive(.didRenew) }
      let fourth = Task { try await harness.receive(.didRenew) }
      try await waitUntil(metrics.render().contains(#"requests_waiting{worker="winback"} 1"#))
      #expect(endpoint.requests.map(\.attempt) == [1, 1, 1])
      isUp.withLock { $0 = true }
      try await harness.advance(by: .seconds(1))
      let id = try await fourth.value.id
      #expect(endpoint.requests.count == 4 && endpoint.requests.last?["notification", "id"] == .string(id))
      #expect(try await harness.events().count == 1)
      #expect(await harness.delayed().flatMap(\.self).count == 3, "the fourth was not delayed")
      for _ in 0..<12 { try await harness.advance(by: .seconds(10)) }
      #expect(endpoint.requests.map(\.attempt) == [1, 1, 1, 1, 2, 2, 2])
      #expect(try await harness.events().count == 4)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `a replay with --reapply has another webhook-id, and says so`() async throws {
    let endpoint = try StubEndpoint { _ in .nothing }
    try await endpoint.run { harness in
      try await Self.sending(harness)
      let record = try #require(harness.log.records(in: harness.topics.inputs[0]).first)
      for (run, mode) in [("r1", "plain"), ("r2", "reapply"), ("r3", "reapply")] {
        try await harness.receive(
          ProducerRecord(
            topic: harness.topics.replay, partition: record.partition, key: record.key, value: record.value,
            headers: record.headers + [
              RecordHeader("ce_replayid", run), RecordHeader("millrace-replay-mode", mode),
              RecordHeader("millrace-first-topic", record.topic),
              RecordHeader("millrace-first-partition", String(record.partition)),
              RecordHeader("millrace-first-offset", String(record.offset)),
              RecordHeader("millrace-first-timestamp", String(record.timestamp ?? 0)),
            ]))
      }
      // The plain copy is skipped.
      #expect(endpoint.requests.map { $0["reapply"] } == [false, true, true])
      #expect(endpoint.requests.map { $0["replay"] } == [false, true, true])
      #expect(Set(endpoint.requests.map(\.id)).count == 3)
      #expect(endpoint.requests.allSatisfy { $0["notification", "family"] == "subscriptions" })
    }
  }

  @Test func `the topics of a worker with a handler are part of the deployment`() throws {
    let loaded = try LoadedConfiguration.load(
      text: """
        workers:
          winback:
            families: [subscriptions]
            retryDelays: [1m, 1h]
            handler: { url: "http://a", secretFile: s }
        """)
    var configuration = loaded.configuration
    configuration.topics.directory = Project.path("topics")
    let identity = try #require(try HTTPWorker.identities(in: configuration).first)
    let policy = configuration.policy(of: "winback", standard: identity.policy)
    let topics = WorkerTopics(HTTPWorker.self, as: identity, configuration, policy)
    let names = try TopicCatalog.load(configuration).topics.map(\.name)
    for topic in topics.laneTopics + topics.others { #expect(names.contains(topic), "\(topic)") }
    #expect(names.contains("millrace.winback.retry.1m") && !names.contains("millrace.winback.retry.10s"))
  }

  @Test func `each entry with a handler is a worker`() throws {
    #expect(throws: MillraceError.self) { try HTTPWorker.identities(in: MillraceConfiguration()) }
    let loaded = try LoadedConfiguration.load(
      text: """
        workers:
          winback: { families: [subscriptions], handler: { url: "http://a", secretFile: s, timeout: 5s } }
          mailer: { families: [refunds, consent], handlerTimeout: 50s, handler: { url: "http://b", secretFile: s } }
          refunds: {}
        """)
    let identities = try HTTPWorker.identities(in: loaded.configuration)
    #expect(identities.map(\.name) == ["mailer", "winback"])
    #expect(identities.map(\.families) == [[.refunds, .consent], [.subscriptions]])
    let policies = identities.map { loaded.configuration.policy(of: $0.name, standard: $0.policy) }
    #expect(policies.map(\.handlerTimeout) == [.seconds(50), .seconds(35)])
    let members: [WorkerIdentity.Member] = identities.map { (HTTPWorker.self, $0) }
    #expect(try WorkerIdentity.checked(members, only: ["winback"]).map(\.identity.name) == ["winback"])
    let error = #expect(throws: MillraceError.self) { try WorkerIdentity.checked(members, only: ["refunds"]) }
    #expect(error?.description.contains("choose from mailer, winback") == true)
  }
}
