// The pages of a webhook, through HTTP, on events and a ledger as its worker writes them.

import AppStore
import AsyncHTTPClient
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import Console
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(5))) struct WebhookPagesTests {
  private static let (topic, worker) = ("appstore.events.refunds", "webhook-crm")

  private static func run(
    allowsActions: Bool = true, showsPayloads: Bool = false,
    _ body: @escaping @Sendable (ConsoleStage) async throws -> Void
  ) async throws {
    try await ConsoleStage.run(
      allowsActions: allowsActions, showsPayloads: showsPayloads, change: { $0.workers[worker] = WorkerEntry() }
    ) { (stage) async throws in
      for id in ["a", "b", "c", "d"] {
        var event = Written.event(
          "refunded", worker: "refunds", key: "2000", about: id, at: Deployment.now - .seconds(60))
        event.partition = 0
        try stage.log.append(event)
      }
      let states: [(String, Handled.State)] = [
        ("event-a", .done(digest: OutcomeDigest.delivery(204))), ("event-b", .done(digest: OutcomeDigest().value)),
        ("event-c", .delayed(attempt: 3, delayIndex: 0)), ("event-d", .dead),
      ]
      for (id, state) in states {
        try stage.log.append(
          LedgerEntry.handled(LedgerKey(id: id), Handled(state, at: Deployment.now)).record(
            topic: "millrace.\(worker).ledger", lane: 0))
      }
      var history = DeliveryHistory(
        ConsumerRecord(
          topic: topic, partition: 0, offset: 2, timestamp: 0, key: nil, value: nil, headers: []))
      history.causes = ["2026-01-01T00:00:00Z server-error: answered 503"]
      history.answer = "<b>down</b>"
      try stage.log.append(
        ProducerRecord(
          topic: "millrace.\(worker).retry.10s", partition: 0, key: [1], value: [1],
          headers: [RecordHeader("ce_id", "event-c")] + history.headers))
      try await body(stage)
    }
  }

  private static func text(_ answer: HTTPClientResponse) async throws -> String {
    String(buffer: try await answer.body.collect(upTo: 1 << 20))
  }

  @Test func `the newest events have their state, and the status with which the receiver accepted them`() async throws {
    try await Self.run { (stage) async throws in
      let page = try await stage.text("/webhooks/crm")
      for words in ["delivered, answered 204", "nothing to post", "waits after 3 attempts", "dead letter<"] {
        #expect(page.contains(words), "\(words): \(page)")
        #expect(!page.contains("down"))
      }
      #expect(try await stage.text("/").contains("href=\"/webhooks/crm\""))
      for path in ["/webhooks", "/webhooks/other", "/webhooks/crm/\(Self.topic)", "/webhooks/crm/\(Self.topic)/0/4"] {
        #expect(try await stage.ask(path).status == .notFound, "\(path)")
      }
      // A topic that the webhook does not read is none of its pages.
      #expect(try await stage.ask("/webhooks/crm/millrace.audit/0/0").status == .notFound)
    }
  }

  @Test func `a delivery's page lists the failed posts, and the event only if that is enabled`() async throws {
    for showsPayloads in [false, true] {
      try await Self.run(showsPayloads: showsPayloads) { (stage) async throws in
        let page = try await stage.text("/webhooks/crm/\(Self.topic)/0/2")
        #expect(
          page.contains("server-error: answered 503") && page.contains("The webhook will post it again."), "\(page)")
        #expect(page.contains("<dt>Last answer</dt><dd><span class=\"code\">&lt;b&gt;down&lt;/b&gt;</span>"), "\(page)")
        #expect(page.contains("a@b.c") == showsPayloads && page.contains("--show-payloads") != showsPayloads)
        #expect(try await stage.text("/webhooks/crm/\(Self.topic)/0/3").contains("/dead-letters?worker=webhook-crm"))
      }
    }
  }

  @Test func `an event is sent again by a run in the user's name, and only if that has an effect`() async throws {
    try await Self.run { (stage) async throws in
      let path = "/webhooks/crm/\(Self.topic)/0/0"
      let token = try await stage.token(path)
      for (form, status) in [("why=x", HTTPResponseStatus.forbidden), ("token=\(token)", .badRequest)] {
        #expect(try await stage.ask(path, .POST, form: form).status == status, "\(form)")
      }
      let waiting = try await stage.ask("/webhooks/crm/\(Self.topic)/0/2", .POST, form: "token=\(token)&why=x")
      #expect(waiting.status == .badRequest && stage.commands.isEmpty && stage.audit.isEmpty)
      let answer = try await stage.ask(path, .POST, form: "token=\(token)&why=the+CRM+lost+it")
      let page = try await Self.text(answer)
      let command = try #require(stage.commands.first)
      #expect(answer.status == .ok && page.contains("href=\"/runs/\(command.replayID)\""), "\(page)")
      guard case .replay(let part) = command.action else {
        Issue.record("no replay: \(command)")
        return
      }
      #expect(part.topic == Self.topic && part.from == 0 && part.to == 1 && part.isReapply)
      #expect(command.worker == Self.worker && command.by == "ada" && command.why == "the CRM lost it")
      #expect(stage.audit.map(\.action) == [.reapply] && stage.audit.first?.source == "millrace-console")
    }
    try await Self.run(allowsActions: false) { (stage) async throws in
      let path = "/webhooks/crm/\(Self.topic)/0/0"
      #expect(try await stage.text(path).contains("millrace replay --worker webhook-crm"))
      #expect(try await stage.ask(path, .POST, form: "token=0-00&why=x").status == .forbidden)
    }
  }
}
