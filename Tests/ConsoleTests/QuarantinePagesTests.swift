// The pages of the quarantine, through HTTP, on bodies as the ingress keeps them.

import AppStore
import AsyncHTTPClient
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import NIOCore
import NIOHTTP1
import Operations
import TestEnvironment
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(5))) struct QuarantinePagesTests {
  /// A version 1 body. The ingress found the secret of the app, which was not configured then.
  private static func known(_ number: Int, bundleId: String = "com.example.app") -> QuarantineRecord {
    QuarantineRecord(
      value: Array(
        #"{"notification_type":"REFUND","bid":"\#(bundleId)","environment":"PROD","number":"\#(number)"}"#.utf8),
      version: .v1, reason: .appNotConfigured, receivedAt: Deployment.now - .seconds(Int64(100 - number)),
      secretOf: ["com.example.app"])
  }

  private static let forged = QuarantineRecord(
    value: Array("e30.e30.<script>".utf8), version: .v2, reason: .chain, receivedAt: Deployment.now - .seconds(7_200))

  private static func write(_ records: [QuarantineRecord], to stage: ConsoleStage) throws {
    for record in records { try stage.log.append(record.producerRecord(topic: QuarantineRecord.topic)) }
  }

  private static func withApp(_ configuration: inout MillraceConfiguration, secret: String) {
    var app = AppSettings()
    (app.bundleId, app.appAppleId, app.sharedSecretFiles) = ("com.example.app", 1, [secret])
    app.environments = [.production]
    configuration.apps = [app]
  }

  /// Runs a console whose configuration has the app.
  private static func run(
    allowsActions: Bool = true, _ body: @escaping @Sendable (ConsoleStage) async throws -> Void
  ) async throws {
    let secret = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("0123456789abcdef0123456789abcdef".utf8).write(to: secret)
    defer { try? FileManager.default.removeItem(at: secret) }
    try await ConsoleStage.run(
      allowsActions: allowsActions, change: { withApp(&$0, secret: secret.path) }, body)
  }

  @Test func `the list has each body once, and filters by reason and app`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      #expect(try await stage.text("/quarantine").contains("No body matches."))
      try Self.write(
        [Self.known(1), Self.known(1), Self.known(2, bundleId: "com.example.other"), Self.forged], to: stage)
      let page = try await stage.text("/quarantine")
      #expect(
        page.contains("3 found") && page.contains(">app-not-configured<") && page.contains(">2 h ago<"), "\(page)")
      #expect(page.components(separatedBy: Self.known(1).id).count == 3, "a checkbox and a link")
      let filtered = try await stage.text("/quarantine?reason=app-not-configured&app=com.example.other")
      #expect(filtered.contains("1 found") && filtered.contains(Self.known(2, bundleId: "com.example.other").id))
    }
  }

  @Test func `a body's page shows what it claims, and its content only if that is enabled`() async throws {
    for showsPayloads in [false, true] {
      try await ConsoleStage.run(showsPayloads: showsPayloads) { (stage) async throws in
        try Self.write([Self.known(1), Self.forged], to: stage)
        let page = try await stage.text("/quarantine/\(Self.known(1).id)")
        #expect(page.contains("<dd>com.example.app, Production</dd>") && page.contains("<dd>/v1</dd>"), "\(page)")
        #expect(
          page.contains("notification_type") == showsPayloads && page.contains("--show-payloads") != showsPayloads)
        #expect(try await !stage.text("/quarantine/\(Self.forged.id)").contains("<script>"))
        for id in [Self.known(2).id, "nothing"] {
          #expect(try await stage.ask("/quarantine/\(id)").status == .notFound)
        }
      }
    }
  }

  @Test func `the purchase that a body claims leads to its timeline, and the timeline to the body`() async throws {
    try await ConsoleStage.run { (stage) async throws in
      let key = "2000000000000001"
      let body = QuarantineRecord(
        value: Array(#"{"notification_type":"REFUND","original_transaction_id":"\#(key)"}"#.utf8), version: .v1,
        reason: .appNotConfigured, receivedAt: Deployment.now)
      try Self.write([body], to: stage)
      let list = try await stage.text("/quarantine")
      #expect(list.contains(">Transaction<") && list.contains(">\(key)<"), "\(list)")
      let page = try await stage.text("/quarantine/\(body.id)")
      #expect(page.contains("<dt>Claims the transaction</dt>") && page.contains("href=\"/timeline?id=\(key)\""))
      let timeline = try await stage.text("/timeline?id=\(key)")
      #expect(timeline.contains("1 body of the quarantine claims it, unverified: \(body.id.prefix(16))"), "\(timeline)")
      #expect(try await !stage.text("/timeline?id=2000000000000002").contains("quarantined"))
      let answer = try await stage.ask("/timeline?id=hello")
      let problem = String(buffer: try await answer.body.collect(upTo: 1 << 20))
      #expect(answer.status == .badRequest && problem.contains("not a transaction, order, token or notification id"))
    }
  }

  @Test func `a resubmission writes what is admitted now, and records who wanted it and why`() async throws {
    try await Self.run { (stage) async throws in
      try Self.write([Self.known(1), Self.known(2), Self.forged], to: stage)
      let path = "/quarantine/resubmit?all=1"
      let question = try await stage.text(path)
      #expect(question.contains("Resubmit 3 bodies?"))
      let token = try await stage.token(path)
      let items = [Self.known(1), Self.forged].map { "item=\($0.id)" }.joined(separator: "&")
      for (form, status) in [
        ("\(items)&why=x", HTTPResponseStatus.forbidden), ("token=\(token)&\(items)", .badRequest),
        ("token=\(token)&why=x", .badRequest), ("token=\(token)&why=x&item=..", .badRequest),
      ] {
        #expect(try await stage.ask("/quarantine/resubmit", .POST, form: form).status == status, "\(form)")
      }
      #expect(stage.audit.isEmpty)
      let answer = try await stage.ask(
        "/quarantine/resubmit", .POST, form: "token=\(token)&why=the+app+is+configured&\(items)")
      let page = String(buffer: try await answer.body.collect(upTo: 1 << 20))
      #expect(page.contains("1 of 2 written") && page.contains("still refused: "), "\(page)")
      let written = stage.log.records(in: "appstore.notifications.refunds")
      #expect(written.map(\.value) == [Self.known(1).value])
      #expect(stage.audit.map(\.action) == [.resubmit, .resubmit])
      let start = try #require(stage.audit.first)
      #expect(start.by == "ada" && start.why == "the app is configured" && start.source == "millrace-console")
      #expect(stage.log.records(in: QuarantineRecord.topic).count == 3)
    }
  }

  @Test func `nothing is resubmitted without the right, without the audit topic, or with a file that is missing`()
    async throws
  {
    try await Self.run(allowsActions: false) { (stage) async throws in
      try Self.write([Self.known(1)], to: stage)
      #expect(try await !stage.text("/quarantine").contains("type=\"checkbox\""))
      #expect(try await stage.ask("/quarantine/resubmit?all=1").status == .forbidden)
      let form = "token=0-00&why=x&item=\(Self.known(1).id)"
      #expect(try await stage.ask("/quarantine/resubmit", .POST, form: form).status == .forbidden)
    }
    try await ConsoleStage.run(change: { Self.withApp(&$0, secret: "/nowhere/secret") }) { (stage) async throws in
      try Self.write([Self.known(1)], to: stage)
      let token = try await stage.token("/quarantine/resubmit?all=1")
      let answer = try await stage.ask(
        "/quarantine/resubmit", .POST, form: "token=\(token)&why=x&item=\(Self.known(1).id)")
      let page = String(buffer: try await answer.body.collect(upTo: 1 << 20))
      #expect(answer.status == .serviceUnavailable && page.contains("/nowhere/secret"), "\(page)")
      #expect(stage.audit.isEmpty && stage.log.records(in: "appstore.notifications.refunds").isEmpty)
    }
  }
}
