// Tests the worker with the simulated App Store and a team's own system.

import AppStore
import AppStoreServerAPI
import AppStoreSimulator
import MillraceTime
import Crypto
import Foundation
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import Consumption
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct ConsumptionWorkerTests {
  private static let hour = Duration.seconds(3_600)

  /// Buys a product, requests a refund, and delivers the notification to a worker.
  private func asked(
    _ stage: ConsumptionStage, _ product: String = ConsumptionStage.coins, token: String? = nil, version1: Bool = false
  ) throws -> Int64 {
    let id = try stage.buy(product, token: token)
    try stage.askBack(id)
    try stage.deliver(version1: version1)
    return id
  }

  private func finish(_ stage: ConsumptionStage, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try stage.checkEvents(sourceLocation: sourceLocation)
  }

  private func names(_ stage: ConsumptionStage) throws -> [String] { try stage.events().map(\.name) }

  // MARK: - Answers

  @Test(arguments: [ConsumptionStage.coins, ConsumptionStage.premium, ConsumptionStage.level])
  func `a request of every product type is answered`(product: String) async throws {
    let stage = try ConsumptionStage()
    let token = "0F9C6F0E-6F39-4A0B-9DF4-3A6A0B3A2C11"
    try await stage.running {
      let id = try asked(stage, product, token: token)
      try await stage.calm()
      let event = try #require(try stage.events().first)
      #expect(event.name == "consumption.sent" && event.transaction == "\(id)")
      #expect(event.data["provider"] == "http" && event.data["lateBySeconds"] == nil)
      #expect(event.data["refundPreference"] == "DECLINE")
      #expect(stage.appStore.asked == ["PUT /inApps/v2/transactions/consumption/\(id)"])
      let post = try #require(stage.team.posts.first)
      #expect(try SchemaCheck("consumption-question").problems(.object(post.question)).isEmpty)
      #expect(post.question["appAccountToken"]?.text?.lowercased() == token.lowercased())
      #expect(post.question["consumptionRequestReason"] == "UNINTENDED_PURCHASE")
      // The verification that a receiver implements from the specification, with its secret.
      let key = SymmetricKey(data: try #require(Data(base64Encoded: String(ConsumptionStage.secret.dropFirst(6)))))
      let (message, time) = (post.headers["webhook-id"] ?? "", post.headers["webhook-timestamp"] ?? "")
      let signed = Data("\(message).\(time).".utf8) + Data(post.body)
      let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
      #expect(post.headers["webhook-signature"] == "v1,\(Data(code).base64EncodedString())")
      #expect(message == event.notification && !message.isEmpty)
    }
    #expect(stage.services.report.broken.isEmpty)
    try finish(stage)
  }

  @Test func `a version 1 request is answered by the older endpoint, for the purchase that it names`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try asked(stage, token: "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11", version1: true)
      try await stage.calm()
      #expect(stage.appStore.asked == ["PUT /inApps/v1/transactions/consumption/\(id)"])
      let event = try #require(try stage.events().first)
      #expect(event.name == "consumption.sent" && event.data["refundPreference"] == "DECLINE")
      #expect(stage.team.posts.first?.question["productType"] == "Consumable")
    }
    #expect(stage.services.report.broken.isEmpty)
    try finish(stage)
  }

  @Test func `a version 1 body that could name two purchases becomes a dead letter`() async throws {
    let stage = try ConsumptionStage()
    let row = #"{"transaction_id":"N","original_transaction_id":"N","product_id":"coins"}"#
    let rows = ["7", "8"].map { row.replacing("N", with: $0) }.joined(separator: ",")
    let body = """
      {"notification_type":"CONSUMPTION_REQUEST","environment":"PROD","bid":"\(ConsumptionStage.bundleId)",\
      "unified_receipt":{"environment":"Production","latest_receipt_info":[\(rows)]}}
      """
    try await stage.running {
      try stage.log.append(try stage.v1(body: Array(body.utf8)))
      try await stage.calm()
    }
    #expect(stage.deadLetters().map(\.reason) == ["transaction-ambiguous"])
    #expect(stage.team.posts.isEmpty && stage.calls == 0)
    try finish(stage)
  }

  @Test func `a duplicate is answered once, and a new request of Apple is answered again`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try stage.buy()
      try stage.askBack(id)
      let first = try stage.told()
      for _ in 0..<3 { for record in first { try stage.log.append(record) } }
      try await stage.calm()
      #expect(stage.calls == 1)
      try await stage.pass(.seconds(3_600), step: .seconds(3_600))
      try stage.askBack(id)
      try stage.deliver()
      try await stage.calm()
      #expect(stage.calls == 2)
    }
    let events = try stage.events()
    #expect(events.map(\.name) == ["consumption.sent", "consumption.sent"])
    #expect(Set(events.map(\.notification)).count == 2)
    #expect(stage.services.report.broken.isEmpty)
    try finish(stage)
  }

  // MARK: - What a provider says

  @Test(arguments: [
    (200, TeamSystem.consented, "consumption.sent", 1), (204, "", "consumption.withheld", 0),
    (404, "", "consumption.withheld", 0), (409, "", "consumption.withheld", 0),
    (200, #"{"customerConsented":false}"#, "consumption.withheld", 0),
    (
      200, #"{"customerConsented":false,"deliveryStatus":"DELIVERED","sampleContentProvided":true}"#,
      "consumption.withheld", 0
    ),
  ])
  func `an answer ends the request`(_ status: Int, _ body: String, _ event: String, _ calls: Int) async throws {
    let stage = try ConsumptionStage()
    stage.team.answers { _ in .status(status, body) }
    try await stage.running {
      _ = try asked(stage)
      try await stage.calm()
    }
    #expect(try names(stage) == [event] && stage.calls == calls && stage.team.posts.count == 1)
    try finish(stage)
  }

  @Test(arguments: [
    (429, ""), (500, ""), (503, ""), (302, ""), (401, ""), (200, "<html>"), (200, "{}"),
    (200, #"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#), (-1, ""),
  ])
  func `an invalid answer is requested again, with the same id and the same bytes`(
    _ status: Int, _ body: String
  ) async throws {
    let stage = try ConsumptionStage()
    stage.team.answers { post in
      post.tries == 3 ? .status(200, TeamSystem.consented) : status < 0 ? nil : .status(status, body)
    }
    try await stage.running {
      _ = try asked(stage)
      try await stage.pass(.seconds(180), step: .seconds(5))
    }
    #expect(try names(stage) == ["consumption.sent"])
    let posts = stage.team.posts
    #expect(posts.count == 4 && Set(posts.map(\.body)).count == 1)
    #expect(Set(posts.map { $0.headers["webhook-id"] }).count == 1)
    #expect(Set(posts.map { $0.headers["webhook-timestamp"] }).count == 4)
    try finish(stage)
  }

  @Test func `if the provider is down all day, there is a warning an hour before the end, then the end`() async throws {
    let stage = try ConsumptionStage()
    stage.team.answers { _ in .status(503) }
    let began = stage.now
    try await stage.running {
      _ = try asked(stage)
      try await stage.pass(.seconds(13 * 3_600), step: .seconds(120))
    }
    let events = try stage.events()
    #expect(events.map(\.name) == ["consumption.at-risk", "consumption.expired"])
    let (risk, end) = (try #require(events.first), try #require(events.last))
    #expect(risk.data["reason"] == "provider-error" && end.data["reason"] == "provider-error")
    #expect((.seconds(11 * 3_600)...(.seconds(11 * 3_600 + 180))).contains(risk.at - began))
    #expect((.seconds(12 * 3_600 - 330)...(.seconds(12 * 3_600))).contains(end.at - began))
    #expect((70...90).contains(stage.team.posts.count) && stage.calls == 0)
    #expect(stage.deadLetters().isEmpty)
    try finish(stage)
  }

  @Test func `a warning is published once, even if its timer is set again`() async throws {
    let stage = try ConsumptionStage()
    stage.team.answers { _ in .status(503) }
    try await stage.running {
      _ = try asked(stage)
      try await stage.pass(.seconds(11 * 3_600 + 300), step: .seconds(120))
    }
    let told = try stage.events()
    #expect(told.map(\.name) == ["consumption.at-risk"])
    // A run of the request that began before the warning and ended after it leaves this timer.
    let question = try #require(told.first?.notification)
    let key = LedgerEntry.Name.timer("at-risk/\(question)").key
    let timer = try #require(stage.log.records(in: stage.topics.ledger).last { $0.key == key && $0.value != nil })
    try stage.log.append(
      ProducerRecord(topic: stage.topics.ledger, partition: timer.partition, key: key, value: timer.value))
    try await stage.running { try await stage.pass(.seconds(300)) }
    #expect(try stage.events().map(\.id) == told.map(\.id))
    #expect(stage.log.records(in: stage.topics.ledger).last { $0.key == key }?.value == nil, "the timer has not fired")
    try finish(stage)
  }

  @Test func `providers are asked in order, a later one only if the earlier ones have no answer`() async throws {
    let stage = try ConsumptionStage { settings in
      var rule = ConsumptionRule()
      rule.product = ConsumptionStage.premium
      rule.customerConsented = true
      rule.deliveryStatus = .undeliveredOther
      settings.rules = [rule]
      settings.providers = [.topic, .http, .rules]
    }
    stage.team.answers { post in
      post.question["productId"] == .string(ConsumptionStage.level) ? .status(200, TeamSystem.consented) : .status(204)
    }
    try await stage.running(2) {
      let token = "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11"
      try stage.write(TeamSystem.consented, for: token)
      _ = try asked(stage, ConsumptionStage.coins, token: token.uppercased())
      _ = try asked(stage, ConsumptionStage.level)
      _ = try asked(stage, ConsumptionStage.premium)
      try await stage.calm()
      // An answer for a transaction takes precedence over one for its customer. A tombstone is no answer.
      let other = try stage.buy(token: token)
      try stage.write(#"{"customerConsented":false}"#, for: "\(other)")
      try stage.askBack(other)
      try stage.deliver()
      try await stage.calm()
      try stage.write(nil, for: token)
      _ = try asked(stage, ConsumptionStage.coins, token: token)
      try await stage.calm()
    }
    let events = try stage.events()
    let providers = Dictionary(grouping: events, by: \.name).mapValues { $0.map { $0.data["provider"]?.text ?? "-" } }
    #expect(Set(providers["consumption.sent"] ?? []) == ["topic", "http", "rules"])
    #expect(Set(providers["consumption.withheld"] ?? []) == ["topic", "-"])
    #expect(events.compactMap { $0.data["reason"]?.text }.sorted() == ["no-consent", "no-provider-knows"])
    #expect(stage.services.report.broken.isEmpty, "\(stage.services.report.broken)")
    try finish(stage)
  }

  @Test func `an invalid answer in the topic is read again later`() async throws {
    let stage = try ConsumptionStage { $0.providers = [.topic] }
    try await stage.running {
      let id = try stage.buy()
      try stage.write("not JSON", for: "\(id)")
      try stage.askBack(id)
      try stage.deliver()
      try await stage.pass(.seconds(60), step: .seconds(10))
      #expect(try stage.events().isEmpty && stage.calls == 0)
      try stage.write(TeamSystem.consented, for: "\(id)")
      try await stage.pass(.seconds(120), step: .seconds(10))
    }
    #expect(try names(stage) == ["consumption.sent"])
    try finish(stage)
  }

  // MARK: - Apple

  @Test func `during an outage of Apple the same bytes are retried, as long as the customer consents`() async throws {
    let stage = try ConsumptionStage()
    stage.fault(.failure(status: 503, body: .html), for: .seconds(3 * 3_600))
    try await stage.running {
      _ = try asked(stage)
      try await stage.calm()
      // The team's new answer must not reach Apple, because the first one may have.
      stage.team.answers { _ in .status(200, TeamSystem.consented.replacing("DECLINE", with: "GRANT_FULL")) }
      try await stage.pass(.seconds(4 * 3_600), step: .seconds(120))
    }
    #expect(stage.calls > 10 && stage.team.posts.count == stage.calls)
    let event = try #require(try stage.events().first)
    #expect(event.name == "consumption.sent" && event.data["refundPreference"] == "DECLINE")
    #expect(stage.services.report.broken.isEmpty)
    try finish(stage)
  }

  @Test(arguments: [409, 204])
  func `consent withdrawn after an attempt with an unknown result prevents the next attempt`(status: Int) async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.answerLost, for: .seconds(5))
      _ = try asked(stage)
      try await stage.calm()
      #expect(stage.calls == 1)
      stage.team.answers { _ in .status(status) }
      try await stage.pass(.seconds(3_600), step: .seconds(120))
      #expect(stage.calls == 1)
      let event = try #require(try stage.events().first)
      #expect(event.name == "consumption.withheld" && event.data["reason"] == "answer-withdrawn")
      // The request has ended. Renewed consent and an operator's replay send nothing.
      stage.team.answers { _ in .status(200, TeamSystem.consented) }
      try stage.log.replay(to: stage.topics, reapply: true)
      try await stage.calm()
    }
    #expect(try stage.calls == 1 && stage.events().count == 1)
    try finish(stage)
  }

  @Test func `while the team cannot confirm the consent, nothing is sent again`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.answerLost, for: .seconds(5))
      _ = try asked(stage)
      try await stage.calm()
      stage.team.answers { _ in .status(503) }
      try await stage.pass(.seconds(13 * 3_600), step: .seconds(300))
    }
    #expect(stage.calls == 1)
    let events = try stage.events()
    #expect(events.map(\.name) == ["consumption.at-risk", "consumption.expired"])
    #expect(events.last?.data["reason"] == "outcome-unknown")
    try finish(stage)
  }

  @Test func `an answer that waits for a slot is not stored, so a withdrawn consent counts`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.tooManyRequests(.milliseconds(from: .seconds(3_600))), for: .seconds(10))
      // The first request gets the 429, and the second waits for the pause that it causes.
      _ = try asked(stage)
      try await stage.calm()
      try await stage.pass(.seconds(300))
      _ = try asked(stage)
      try await stage.calm()
      #expect(Set(stage.team.posts.map(\.transaction)).count == 2)
      #expect(stage.calls == 1)
      stage.team.answers { _ in .status(409) }
      try await stage.pass(.seconds(2 * 3_600), step: .seconds(120))
    }
    #expect(try names(stage) == ["consumption.withheld", "consumption.withheld"])
    #expect(stage.calls == 1)
    try finish(stage)
  }

  @Test(arguments: [true, false])
  func `an answer that did not reach Apple is not stored, and its result is not unknown`(isAsked: Bool) async throws {
    let stage = try ConsumptionStage()
    stage.team.isAppleBeyondReach = true
    try await stage.running {
      _ = try asked(stage)
      try await stage.pass(.seconds(120), step: .seconds(10))
      #expect(stage.team.posts.count > 1)
    }
    #expect(try stage.events().isEmpty)
    #expect(!stage.keepsAnswers, "an answer that was not sent is in the ledger")
    stage.team.isAppleBeyondReach = false
    stage.team.answers { _ in .status(409) }
    if !isAsked { stage.time.advance(by: .seconds(43_260)) }
    try await stage.running { try await stage.pass(.seconds(1_200)) }
    let ends = try stage.events().filter { $0.name != "consumption.at-risk" }
    #expect(ends.map(\.name) == [isAsked ? "consumption.withheld" : "consumption.expired"])
    #expect(ends.first?.data["reason"] == (isAsked ? "no-consent" : "lag"))
    #expect(stage.calls == 0)
    try finish(stage)
  }

  @Test func `a permanent refusal by Apple is published with its code`() async throws {
    let stage = try ConsumptionStage()
    stage.fault(.failure(status: 400, body: .json(code: 4_000_047, message: "not supported")), for: .seconds(3_600))
    try await stage.running {
      _ = try asked(stage)
      try await stage.calm()
    }
    let event = try #require(try stage.events().first)
    #expect(event.name == "consumption.refused" && event.data["errorCode"] == 4_000_047)
    #expect(event.data["status"] == 400 && stage.calls == 1)
    try finish(stage)
  }

  @Test(arguments: [400, 413, 422])
  func `a refusal without Apple's code may be a gateway's and is retried`(status: Int) async throws {
    let stage = try ConsumptionStage()
    stage.fault(.failure(status: status, body: .html), for: .seconds(600))
    try await stage.running {
      _ = try asked(stage)
      try await stage.calm()
      #expect(stage.calls == 1)
      #expect(try stage.events().isEmpty)
      try await stage.pass(.seconds(1_800))
    }
    #expect(try names(stage) == ["consumption.sent"])
    #expect(stage.calls > 1 && stage.team.posts.count == stage.calls)
    #expect(stage.services.report.broken.isEmpty)
    try finish(stage)
  }

  @Test func `a rate limit that ends after the deadline is reported at once`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.tooManyRequests(.milliseconds(from: .seconds(13 * 3_600))), for: .seconds(60))
      _ = try asked(stage)
      try await stage.pass(.seconds(60), step: .seconds(30))
    }
    let event = try #require(try stage.events().first)
    #expect(event.name == "consumption.at-risk" && event.data["reason"] == "apple-limit")
    try finish(stage)
  }

  // MARK: - Time

  @Test func `an answer after the planned and before the final deadline is sent, marked and announced`()
    async throws
  {
    let stage = try ConsumptionStage()
    stage.team.answers { _ in .status(503) }
    try await stage.running {
      let id = try stage.buy()
      try stage.askBack(id)
      let told = try stage.told()
      try await stage.pass(.seconds(2 * 3_600), step: .seconds(3_600))
      for record in told { try stage.log.append(record) }
      try await stage.pass(.seconds(10 * 3_600 + 1_800), step: .seconds(120))
      stage.team.answers { _ in .status(200, TeamSystem.consented) }
      try await stage.pass(.seconds(1_800), step: .seconds(120))
    }
    let events = try stage.events()
    #expect(events.map(\.name) == ["consumption.at-risk", "consumption.sent"])
    guard case .integer(let late)? = events.last?.data["lateBySeconds"] else {
      Issue.record("not marked as late: \(events)")
      return
    }
    #expect((1_800...2_520).contains(late))
    #expect((events.first.map { $0.at } ?? stage.now) < (events.last.map { $0.at } ?? stage.now) - .seconds(3_600))
    try finish(stage)
  }

  @Test(arguments: [
    (11 * 3_600 + 1_800, ["consumption.at-risk", "consumption.sent"]), (43_260, ["consumption.expired"]),
  ])
  func `a worker that was down reports its lag`(_ seconds: Int, _ expected: [String]) async throws {
    let stage = try ConsumptionStage()
    _ = try asked(stage)
    stage.time.advance(by: .seconds(seconds))
    try await stage.running { try await stage.calm() }
    let events = try stage.events()
    #expect(events.map(\.name) == expected)
    #expect(events.first?.data["reason"] == "lag")
    try finish(stage)
  }

  @Test(arguments: [
    (157 * 3_600 + 600, "consumption.sent"), (168 * 3_600, "consumption.sent"), (170 * 3_600, "consumption.expired"),
    (402 * 86_400, "consumption.expired"),
  ])
  func `a request that arrives long after its signature has the time of Apple's retries`(
    _ seconds: Int, _ expected: String
  ) async throws {
    let stage = try ConsumptionStage()
    let id = try stage.buy()
    try stage.askBack(id)
    let told = try stage.told()
    stage.time.advance(by: .seconds(seconds))
    try await stage.running {
      for record in told { try stage.log.append(record) }
      try await stage.calm()
    }
    #expect(try names(stage).last == expected)
    #expect(stage.calls == (expected == "consumption.sent" ? 1 : 0))
    try finish(stage)
  }

  @Test(arguments: [
    ["millrace-first-timestamp": "1000"], ["millrace-time": "1000"], ["millrace-deadline": "1000"],
    ["millrace-first-timestamp": "1000", "millrace-attempt": "99999"],
    ["millrace-replay-mode": "reapply", "ce_replayid": "forged", "millrace-first-timestamp": "1000"],
  ])
  func `forged headers do not end a request`(headers: [String: String]) async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try stage.buy()
      try stage.askBack(id)
      for var record in try stage.told() {
        let genuine = record
        record.headers += headers.map { RecordHeader($0.key, $0.value) }
        // The forged copy arrives first.
        try stage.log.append(record)
        try await stage.calm()
        try stage.log.append(genuine)
      }
      try await stage.calm()
    }
    #expect(try names(stage) == ["consumption.sent"] && stage.calls == 1)
    #expect(stage.deadLetters().isEmpty)
    try finish(stage)
  }

  @Test func `an answer with a lost response is not sent after the end, and its result is unknown`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.answerLost, for: .seconds(10))
      _ = try asked(stage)
      try await stage.calm()
    }
    #expect(stage.calls == 1)
    stage.time.advance(by: .seconds(43_260))
    try await stage.running { try await stage.calm() }
    let event = try #require(try stage.events().first { $0.name == "consumption.expired" })
    #expect(event.data["reason"] == "outcome-unknown" && stage.calls == 1)
    try finish(stage)
  }

  @Test func `the request with the nearest deadline is answered first`() throws {
    let received = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    var envelope = NotificationEnvelope([])
    envelope.notificationType = "CONSUMPTION_REQUEST"
    let first = try #require(ConsumptionWorker.deadline(of: envelope, receivedAt: received))
    let second = try #require(ConsumptionWorker.deadline(of: envelope, receivedAt: received + .seconds(1)))
    #expect(first < second && first - received == .seconds(43_200))
  }

  @Test func `a replay makes no calls and publishes nothing, even days later`() async throws {
    let stage = try ConsumptionStage()
    stage.team.answers { post in
      switch post.question["productId"] {
      case .string(ConsumptionStage.coins)?: .status(200, TeamSystem.consented)
      case .string(ConsumptionStage.level)?: .status(409)
      default: .status(503)
      }
    }
    try await stage.running {
      for product in [ConsumptionStage.coins, ConsumptionStage.level, ConsumptionStage.premium] {
        _ = try asked(stage, product)
      }
      try await stage.pass(.seconds(13 * 3_600), step: .seconds(300))
      let (ids, calls, posts) = (try stage.events().map(\.id), stage.calls, stage.team.posts.count)
      #expect(ids.count == 4)
      for reapply in [false, true] {
        try stage.log.replay(to: stage.topics, reapply: reapply)
        try await stage.calm()
        #expect(try stage.events().map(\.id) == ids, "reapply \(reapply)")
        #expect(stage.calls == calls && stage.team.posts.count == posts, "reapply \(reapply)")
      }
    }
    try finish(stage)
  }
}
