// Webhooks in the harness: what a receiver gets, and what its answers lead to.

import AppStore
import AppStoreServerAPI
import CoreMetrics
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Synchronization
import TestEnvironment
import Testing

@testable import HTTPWorkers
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(10))) struct WebhookWorkerTests {
  @Test func `an event is posted once, signed, as a CloudEvent with its data`() async throws {
    let receiver = StubReceiver { _ in 204 }
    try await receiver.run { harness in
      let record = SampleEvent.record(
        "subscription.expired", id: "e1", data: ["bundleId": "com.example.app", "price": .number("1.50")])
      for _ in 0..<2 { try await harness.receive(record) }
      let post = try #require(receiver.posts.first)
      #expect(receiver.posts.count == 1)
      var outcomes = LedgerOutcomes()
      for entry in harness.log.records(in: harness.topics.ledger) { outcomes.take(entry) }
      #expect(outcomes.outcome(of: "e1") == .done(status: 204))
      let expected: JSONObject = [
        "specversion": "1.0", "id": "e1", "source": "millrace/subscriptions",
        "type": "dev.millrace.subscriptions.subscription.expired", "subject": "2000",
        "time": "2026-01-11T09:30:00.000Z", "datacontenttype": "application/json", "notificationid": "n-e1",
        "data": ["bundleId": "com.example.app", "price": .number("1.50")],
      ]
      #expect(post.json == expected)
      #expect(post.headers["traceparent"] == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
      #expect(post.headers["user-agent"] == "millrace-worker/\(MillraceVersion.current)")
      #expect(try await harness.deadLetters().isEmpty)
      #expect(try await harness.events().isEmpty)
    }
  }

  @Test func `events of a key are posted in order, although the receiver fails at first, and other keys do not wait`()
    async throws
  {
    let receiver = StubReceiver { $0.earlier == 0 && $0.id.hasPrefix("a") ? 503 : 200 }
    try await receiver.run { harness in
      for event in ["a1", "b1", "a2", "b2", "a3"] {
        try await harness.receive(SampleEvent.record("subscription.renewed", id: event, key: String(event.prefix(1))))
      }
      #expect(receiver.posts.map(\.id) == ["a1", "b1", "b2"])
      for _ in 0..<30 { try await harness.advance(by: .seconds(10)) }
      let taken = receiver.posts.filter { $0.earlier > 0 || $0.id.hasPrefix("b") }.map(\.id)
      #expect(taken == ["b1", "b2", "a1", "a2", "a3"])
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `an event that is refused too often becomes a dead letter, and the next one of its key follows`()
    async throws
  {
    let receiver = StubReceiver { $0.id == "bad" ? 422 : 200 }
    try await receiver.run(settings: "refusedAttempts: 2") { harness in
      for event in ["bad", "good"] { try await harness.receive(SampleEvent.record("subscription.renewed", id: event)) }
      for _ in 0..<20 { try await harness.advance(by: .seconds(10)) }
      #expect(receiver.posts.map(\.id) == ["bad", "bad", "good"])
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "refused" && letter.detail.contains("answered 422 to attempt 2"))
      #expect(letter.record.headers.contains { $0.name == "ce_id" && $0.value == Array("bad".utf8) })
    }
  }

  @Test func `a retried event and its dead letter keep an excerpt of the last answer`() async throws {
    // Refused at first; later posts get no answer.
    let receiver = StubReceiver(body: "unknown\u{1B} <customer>\n" + String(repeating: "x", count: 500)) {
      $0.earlier == 0 ? 422 : 0
    }
    try await receiver.run(change: { $0.workers["webhook-crm"]?.maximumAttempts = 3 }) { harness in
      try await harness.receive(SampleEvent.record("subscription.renewed", id: "e"))
      for _ in 0..<200 { try await harness.advance(by: .seconds(10)) }
      #expect(receiver.posts.count == 3)
      let excerpt = "unknown <customer> " + String(repeating: "x", count: 181)
      let waiting = harness.topics.retries.flatMap { harness.log.records(in: $0) }.map { DeliveryHistory($0) }
      #expect(waiting.count >= 2 && waiting.allSatisfy { $0.lastAnswer == excerpt })
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "attempts-exhausted" && DeliveryHistory(letter.record).lastAnswer == excerpt)
      #expect(!letter.detail.contains("customer") && DeliveryHistory(letter.record).causes.count == 3)
    }
    let silent = StubReceiver { _ in 422 }
    try await silent.run(settings: "refusedAttempts: 1") { harness in
      try await harness.receive(SampleEvent.record("subscription.renewed", id: "e"))
      let letter = try #require(try await harness.deadLetters().first)
      #expect(!letter.record.headers.contains { $0.name == "millrace-answer" })
    }
  }

  @Test(
    arguments: [
      ("", ["e1", "e2", "e3", "e4"]),
      ("events: [subscription.expired]", ["e1"]),
      ("events: ['subscription.*']", ["e1", "e2"]),
      ("events: ['sub*', customer.erased]", ["e1", "e2", "e4"]),
      ("workers: [refunds]", ["e3"]),
      ("bundleIds: [com.example.app]", ["e1", "e3", "e4"]),
      ("environments: [Production]", ["e1", "e2", "e4"]),
    ])
  func `a webhook receives the events, workers, apps and environments of its settings`(
    settings: String, ids: [String]
  ) async throws {
    let receiver = StubReceiver { _ in 200 }
    try await receiver.run(settings: settings) { harness in
      var records = [
        SampleEvent.record("subscription.expired", id: "e1"),
        SampleEvent.record(
          "subscription.renewed", id: "e2", data: ["bundleId": "com.example.other", "environment": "Production"]),
        SampleEvent.record(
          "consumption.sent", id: "e3", from: "refunds",
          data: ["purchase": ["bundleId": "com.example.app", "environment": "Sandbox"]]),
        SampleEvent.record("customer.erased", id: "e4", data: ["erasedAt": "2026-01-11T09:30:00.000Z"]),
      ]
      records.removeAll { !harness.topics.inputs.contains($0.topic) }
      for record in records { try await harness.receive(record) }
      #expect(receiver.posts.map(\.id).sorted() == ids)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `410 makes an event wait without attempts until the receiver answers otherwise`() async throws {
    let isGone = Mutex(true)
    let receiver = StubReceiver { _ in isGone.withLock { $0 } ? 410 : 200 }
    try await receiver.run(change: { $0.workers["webhook-crm"]?.maximumAttempts = 2 }) { harness in
      try await harness.receive(SampleEvent.record("x", id: "e1"))
      for _ in 0..<60 { try await harness.advance(by: .seconds(10)) }
      #expect(receiver.posts.count >= 4)
      isGone.withLock { $0 = false }
      for _ in 0..<12 { try await harness.advance(by: .seconds(10)) }
      let posts = receiver.posts.count
      for _ in 0..<12 { try await harness.advance(by: .seconds(10)) }
      #expect(receiver.posts.count == posts)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `an endpoint that does not answer is retried until its attempts are exhausted`() async throws {
    let receiver = StubReceiver { _ in 0 }
    try await receiver.run(change: { $0.workers["webhook-crm"]?.maximumAttempts = 2 }) { harness in
      try await harness.receive(SampleEvent.record("x", id: "e1"))
      for _ in 0..<20 { try await harness.advance(by: .seconds(10)) }
      #expect(receiver.posts.count == 2)
      let letter = try #require(try await harness.deadLetters().first)
      #expect(letter.reason == "attempts-exhausted" && letter.detail.contains("unreachable"))
    }
  }

  @Test(
    arguments: [
      ("ce_source", "millrace/refunds", "headers"), ("ce_source", "other", "headers"),
      ("ce_type", "com.apple.appstore.notification.v2.REFUND", "headers"), ("ce_type", "", "headers"),
      ("ce_subject", "another", "headers"), ("ce_id", "", "headers"), ("ce_specversion", "2.0", "headers"),
      ("value", "{", "malformed"), ("value", "", "malformed"),
    ])
  func `a record that does not fit its topic and its key is not posted`(
    part: String, text: String, reason: String
  ) async throws {
    let receiver = StubReceiver { _ in 200 }
    try await receiver.run { harness in
      var record = SampleEvent.record("subscription.expired", id: "e1")
      if part == "value" {
        record.value = Array(text.utf8)
      } else {
        record.headers.removeAll { $0.name == part }
        record.headers.append(RecordHeader(part, text))
      }
      try await harness.receive(record)
      #expect(try await harness.deadLetters().map(\.reason) == [reason])
      #expect(receiver.posts.isEmpty)
      // It only claimed an id, so the genuine event of this id is posted.
      try await harness.receive(SampleEvent.record("subscription.expired", id: "e1"))
      #expect(receiver.posts.count == 1)
    }
  }

  @Test func `a plain replay posts nothing, and a reapplied one posts each event once, with its id`() async throws {
    let receiver = StubReceiver { _ in 200 }
    try await receiver.run { harness in
      for event in ["e1", "e2"] { try await harness.receive(SampleEvent.record("x", id: event, key: event)) }
      for (reapply, posts) in [(false, 2), (true, 4)] {
        #expect(try harness.log.replay(to: harness.topics, reapply: reapply) == 2)
        try await harness.settle()
        #expect(receiver.posts.count == posts, "reapply: \(reapply)")
      }
      #expect(Set(receiver.posts.map(\.id)) == ["e1", "e2"])
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `an erased customer's events are dropped, and customer.erased is posted`() async throws {
    let receiver = StubReceiver { _ in 200 }
    let folder = try TestFolder()
    let secret = try folder.write(String(repeating: "k", count: 44), to: "key")
    try await receiver.run(change: { $0.privacy.keyFile = secret }) { harness in
      let key = try ErasureKey(secret: Array(String(repeating: "k", count: 44).utf8))
      let mark = key.mark(of: Array("2000".utf8))
      let time = try #require(Timestamp(rfc3339: "2026-02-01T00:00:00Z"))
      for lane in Int32(0)..<2 {
        let command = OperationCommand(
          id: "c\(lane)", run: "r", item: OperationCommand.erasure(of: mark, command: "c\(lane)"),
          worker: "webhook-crm",
          lane: lane, action: .erase(customer: try key.seal(Array("2000".utf8))), why: "", by: "ada",
          at: time)
        try harness.log.append(OperationsRecord.command(command).producerRecord(harness.topics.operations))
      }
      try await waitUntil(await harness.events().count >= 2)
      for name in ["subscription.renewed", "customer.erased"] {
        try await harness.receive(SampleEvent.record(name, id: name))
      }
      #expect(receiver.posts.map(\.id) == ["customer.erased"])
    }
    try folder.remove()
  }
}

@Suite struct WorkerPauseTests {
  @Test func `a pause counts from the next look at Kafka, and only for its worker`() async throws {
    let time = ManualClock()
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic("millrace.operations", partitions: 1)
    let pause = try WorkerPause(
      WorkerSetup(
        name: "webhook-crm", configuration: MillraceConfiguration(), settings: nil, clock: time.clock,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, http: StubReceiver { _ in 200 }, log: log,
        host: nil, metrics: NOOPMetricsHandler.instance))
    func control(_ verb: RunVerb, of worker: String) throws {
      let control = RunControl(run: WorkerPause.run(of: worker), verb, by: "ada", at: time.clock.wallTime)
      try log.append(OperationsRecord.control(control).producerRecord("millrace.operations"))
    }
    #expect(try await pause.isPaused() == false)
    try control(.pause, of: "webhook-crm")
    #expect(try await pause.isPaused() == false, "the last answer counts for a second")
    time.advance(by: WorkerPause.interval)
    #expect(try await pause.isPaused())
    try control(.resume, of: "webhook-shop")
    time.advance(by: WorkerPause.interval)
    #expect(try await pause.isPaused())
    try control(.resume, of: "webhook-crm")
    time.advance(by: WorkerPause.interval)
    #expect(try await pause.isPaused() == false)
  }
}

@Suite struct WebhookSettingsTests {
  @Test func `each entry under webhooks is a worker of every publisher's events`() throws {
    let loaded = try LoadedConfiguration.load(
      text: """
        webhooks:
          crm: { url: "http://a", secretFile: s, timeout: 5s }
          shop: { url: "http://b", secretFile: s, workers: [refunds] }
        workers:
          subscriptions: {}
          refunds: {}
          forward-old: { settings: { url: "http://c" } }
          winback: { families: [subscriptions], handler: { url: "http://d", secretFile: s } }
          webhook-crm: { parallelism: 7 }
        """, workers: [WebhookWorker.settingsForm(named: "webhook-<name>")])
    let identities = try WebhookWorker.identities(in: loaded.configuration)
    #expect(identities.map(\.name) == ["webhook-crm", "webhook-shop"])
    #expect(identities.map(\.families) == [[], []])
    let topics = identities.map { $0.eventTopics.sorted() }
    #expect(
      topics == [
        ["appstore.events.refunds", "appstore.events.subscriptions", "appstore.events.winback"],
        ["appstore.events.refunds"],
      ])
    let policy = loaded.configuration.policy(of: "webhook-crm", standard: identities[0].policy)
    #expect(policy.parallelism == 7 && policy.ordering == .strict && policy.handlerTimeout == .seconds(35))
    #expect(try HTTPWorker.identities(in: loaded.configuration).map(\.name) == ["winback"])
    let alone = try LoadedConfiguration.load(text: "webhooks: { crm: { url: 'http://a', secretFile: s } }")
    #expect(try HTTPWorker.identities(in: alone.configuration).isEmpty)
  }

  @Test(
    arguments: [
      ("crm: {}", "the webhook has no url"), ("crm: { url: 'http://a' }", "the webhook has no secret"),
      ("crm:", "the webhook has no url"),
      ("crm: { url: 'http://a', secretFile: s, event: [a] }", "did you mean"),
      ("crm: { url: 'http://a', secretFile: s, events: ['a*b'] }", "has a `*` before its end"),
      ("crm: { url: 'http://a', secretFile: s, events: [entitlement.revokd] }", "did you mean entitlement.revoked?"),
      ("crm: { url: 'http://a', secretFile: s, events: [subscription.expired] }", "publishes `subscription.expired`"),
      ("crm: { url: 'http://a', secretFile: s, events: ['refunds.*'] }", "publishes `refunds.*`"),
      ("crm: { url: 'http://a', secretFile: s, workers: [winback] }", "choose from refunds"),
      ("crm: { url: 'http://a:b@c', secretFile: s }", "contains a password"),
      ("crm: { url: 'http://a', secretFile: s, bundleIds: [b] }", "the app b is not configured"),
      ("CRM: { url: 'http://a', secretFile: s }", "`CRM` is not a webhook's name"),
      ("[crm]", "`webhooks` is a list"),
    ])
  func `a mistake is named with its place`(webhooks: String, what: String) throws {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(
        text: "workers: { refunds: {} }\nwebhooks:\n  \(webhooks)\n",
        workers: [WebhookWorker.settingsForm(named: "webhook-<name>")])
    }
    #expect(error?.description.contains(what) == true, "\(error?.description ?? "")")
  }

  @Test func `a worker of one's own may publish events of any name`() throws {
    let loaded = try LoadedConfiguration.load(
      text: """
        workers: { refunds: {}, winback: {} }
        webhooks: { crm: { url: 'http://a', secretFile: s, events: [letter.sent] } }
        """, workers: [WebhookWorker.settingsForm(named: "webhook-<name>")])
    let settings: WebhookSettings = try loaded.configuration.settings(of: "webhook-crm")
    #expect(settings.events == ["letter.sent"])
  }

  @Test func `the section can come from the environment`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "workers: { refunds: {} }",
      environment: [
        "MILLRACE_WEBHOOKS": "{crm: {url: 'http://a', secretFile: s}}",
        "MILLRACE_WORKERS_WEBHOOK_CRM_SETTINGS_EVENTS": "refund.*, customer.erased",
      ])
    let settings: WebhookSettings = try loaded.configuration.settings(of: "webhook-crm")
    #expect(settings.url == "http://a" && settings.events == ["refund.*", "customer.erased"])
  }
}
