import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import Foundation
import TestEnvironment
import Testing

@testable import Operations

@Suite("millrace api", .timeLimit(.minutes(15)))
struct APIOperationTests {
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  @Test("a transaction is shown as text, with the remaining fields listed below")
  func transaction() async throws {
    let payload = fixture.transaction("400002") {
      $0.offerType = .introductoryOffer
      $0.offerDiscountType = .freeTrial
      $0.offerPeriod = "P1W"
      $0.json["neverSeen"] = ["a": 1]
    }
    try answerTransaction(payload)
    #expect(try await fixture.operation().transaction("400002") == .success)
    let text = fixture.out.lines.joined(separator: "\n")
    #expect(
      fixture.out.lines.first?.split(separator: " ").map(String.init) == ["transaction", "400002"])
    for part in [
      "state                 current", "original transaction  400001",
      "product               com.example.app.monthly (Auto-Renewable Subscription)", "price                 9.99 EUR",
      "offer                 introductory offer, free trial, P1W", "expires               2026-01-31T00:00:00Z",
      "neverSeen             {\"a\":1}",
    ] {
      #expect(text.contains(part), "\(part) in\n\(text)")
    }
    #expect(!text.contains("quantity") && !text.contains("revoked"))
  }

  @Test("in a pipe, the output is the payload as Apple signed it")
  func transactionJSON() async throws {
    let payload = fixture.transaction("400002") { $0.json["neverSeen"] = [1.description.jsonValue] }
    try answerTransaction(payload)
    #expect(try await fixture.operation(asJSON: true).transaction("400002") == .success)
    #expect(fixture.out.lines == [String(decoding: payload.serialized(), as: UTF8.self)])
    #expect(fixture.notes.lines.isEmpty)
  }

  @Test("before the first release, production's 401 is shown once, and then the sandbox is asked")
  func unreleased() async throws {
    let payload = fixture.transaction("7") { $0.environment = .sandbox }
    fixture.store.answer("GET production /inApps/v1/transactions/7", .init(status: 401))
    fixture.store.answer(
      "GET sandbox /inApps/v1/transactions/7",
      .init(body: ["signedTransactionInfo": .string(try fixture.sign(payload))]))
    let notes = fixture.notes.output()
    let client = try fixture.client().1.askingSandboxBeforeRelease { notes.note($0) }
    for _ in 0..<2 {
      #expect(try await client.getTransactionInfo("7").value.payload.transactionId == "7")
    }
    #expect(fixture.notes.lines.count == 2 && fixture.notes.lines[0].contains("401"), "\(fixture.notes.lines)")
    #expect(fixture.notes.lines[1].hasPrefix("Production answers 401 until the app's first release"))
    // A named environment is never replaced. Extensions and answers always name one.
    let before = fixture.store.asked.count
    await #expect(throws: APIError.self) { try await client.getTransactionInfo("7", in: .production) }
    fixture.store.answer("PUT production /inApps/v1/subscriptions/extend/7", .init(status: 401))
    fixture.store.answer("PUT production /inApps/v2/transactions/consumption/7", .init(status: 401))
    await #expect(throws: APIError.self) {
      try await client.extendSubscriptionRenewalDate(
        "7", ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: .other, requestIdentifier: "x"),
        in: .production)
    }
    await #expect(throws: APIError.self) {
      try await client.sendConsumptionInformation(
        "7",
        ConsumptionRequest(customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered),
        in: .production)
    }
    let asked = fixture.store.asked.dropFirst(before)
    #expect(!asked.isEmpty && asked.allSatisfy { $0.contains(" production ") }, "\(asked)")
  }

  @Test("a transaction that is unknown in production is looked up in the sandbox")
  func sandbox() async throws {
    let payload = fixture.transaction("7") { $0.environment = .sandbox }
    fixture.store.answer(
      "GET sandbox /inApps/v1/transactions/7",
      .init(body: ["signedTransactionInfo": .string(try fixture.sign(payload))]))
    #expect(try await fixture.operation().transaction("7") == .success)
    #expect(
      fixture.store.asked == ["GET production /inApps/v1/transactions/7", "GET sandbox /inApps/v1/transactions/7"])
    #expect(fixture.out.lines.contains { $0.hasPrefix("environment") && $0.hasSuffix("Sandbox") })
  }

  @Test("--environment restricts the lookup to that environment")
  func oneEnvironment() async throws {
    let error = await #expect(throws: APIError.self) {
      try await fixture.operation(environment: "Sandbox").transaction("7")
    }
    #expect(fixture.store.asked == ["GET sandbox /inApps/v1/transactions/7"])
    #expect(try FailureReport(#require(error)).status == .failure)
  }

  @Test("an invalid request is not sent, and the report names the rule and its documentation page")
  func violation() async throws {
    let error = await #expect(throws: APIError.self) { try await fixture.operation().transaction("12/34") }
    let report = FailureReport(try #require(error))
    #expect(report.status == .usage)
    #expect(
      report.lines.count == 1 && report.lines[0].contains("transactionId") && report.lines[0].contains("https://"))
    #expect(fixture.store.asked.isEmpty)
  }

  @Test("data that Apple did not sign is not shown")
  func forged() async throws {
    let payload = fixture.transaction("400002")
    let other = try APIFixture()
    fixture.store.answer(
      "GET production /inApps/v1/transactions/400002",
      .init(body: ["signedTransactionInfo": .string(try other.sign(payload))]))
    let error = await #expect(throws: APIError.self) { try await fixture.operation(asJSON: true).transaction("400002") }
    #expect(fixture.out.lines.isEmpty)
    #expect(FailureReport(try #require(error)).lines[0].contains("signedTransactionInfo"))
  }

  @Test("a history has one row per transaction, and every page is requested with the same query")
  func history() async throws {
    let path = "GET production /inApps/v2/history/400001?"
    let query = "productType=AUTO_RENEWABLE&sort=DESCENDING"
    fixture.store.answer(path + query, try page(["400005", "400004"], revision: "r+1", hasMore: true))
    fixture.store.answer(path + "revision=r%2B1&" + query, try page(["400003"], revision: "r2", hasMore: false))
    var filter = HistoryFilter()
    filter.types = [.autoRenewable]
    filter.isNewestFirst = true
    #expect(
      try await fixture.operation(width: 200).history("400001", filter.request(at: APIFixture.now), limit: nil)
        == .success)
    let lines = fixture.out.lines
    #expect(lines.count == 4 && lines[0].hasPrefix("PURCHASED") && lines[0].hasSuffix("TRANSACTION"))
    #expect(lines.dropFirst().map { $0.suffix(6) } == ["400005", "400004", "400003"])
    #expect(lines[1].contains("9.99 EUR") && lines[1].contains("current"))
    // Columns are aligned with their headings from the first row.
    let column = try #require(lines[0].firstRange(of: "STATE")).lowerBound.utf16Offset(in: lines[0])
    #expect(lines.dropFirst().allSatisfy { $0.dropFirst(column).hasPrefix("current") })
    #expect(fixture.notes.lines == ["3 transactions in Production"])
  }

  @Test("if a connection breaks between pages, only that page is requested again")
  func resetBetweenPages() async throws {
    let path = "GET production /inApps/v2/history/400001"
    fixture.store.answer(path, try page(["400005"], revision: "r1", hasMore: true))
    fixture.store.answer(
      path + "?revision=r1", .init(isReset: true), try page(["400004"], revision: "r2", hasMore: false))
    async let status = fixture.operation(asJSON: true).history("400001", .init(), limit: nil)
    try await waitOutPauses(1)
    #expect(try await status == .success)
    #expect(
      try fixture.out.lines.map { try JSONObject(parsing: Array($0.utf8))["transactionId"] } == ["400005", "400004"])
    #expect(fixture.store.asked == [path, path + "?revision=r1", path + "?revision=r1"])
    #expect(fixture.notes.lines == ["no response: connection reset by peer; retrying this page"])
  }

  @Test("if a page fails three times, the history ends with the error")
  func pageThatNeverComes() async throws {
    let path = "GET production /inApps/v2/history/400001"
    fixture.store.answer(path, .init(isReset: true))
    let history = Task { [fixture] in try await fixture.operation(asJSON: true).history("400001", .init(), limit: nil) }
    try await waitOutPauses(APIOperation.pauses.count)
    await #expect(throws: APIError.self) { try await history.value }
    #expect(fixture.store.asked == [path, path, path])
  }

  @Test("a limit ends a history without requesting further pages")
  func limit() async throws {
    let path = "GET production /inApps/v2/history/400001"
    fixture.store.answer(path, try page(["400005", "400004"], revision: "r1", hasMore: true))
    #expect(try await fixture.operation(asJSON: true).history("400001", .init(), limit: 1) == .success)
    #expect(fixture.out.lines.count == 1)
    #expect(fixture.store.asked == [path])
  }

  @Test("refunds show the time, the amount and the reason")
  func refunds() async throws {
    let refunded = fixture.transaction("400002") {
      $0.revocationDate = APIFixture.now
      $0.revocationReason = .refundedDueToIssue
      $0.revocationType = .refundProrated
      $0.revocationPercentage = 33_300
    }
    fixture.store.answer(
      "GET production /inApps/v2/refund/lookup/400001",
      .init(body: [
        "signedTransactions": [.string(try fixture.sign(refunded))], "revision": "r", "hasMore": false,
      ]))
    #expect(try await fixture.operation(width: 200).refunds("400001", limit: nil) == .success)
    #expect(fixture.out.lines.count == 2)
    let row = try #require(fixture.out.lines.last)
    #expect(row.hasPrefix("2026-01-01T00:00:00Z") && row.contains("33.3 %") && row.contains("an issue with the app"))
    #expect(fixture.notes.lines == ["1 refund in Production"])
  }

  @Test("an empty refund history is reported, also to a pipe")
  func noRefunds() async throws {
    fixture.store.answer(
      "GET production /inApps/v2/refund/lookup/400001",
      .init(body: ["signedTransactions": [], "revision": "r", "hasMore": false]))
    #expect(try await fixture.operation(asJSON: true).refunds("400001", limit: nil) == .success)
    #expect(fixture.out.lines.isEmpty && fixture.notes.lines == ["0 refunds in Production"])
  }

  @Test("statuses show what is active, the end and the next period")
  func statuses() async throws {
    fixture.store.answer(
      "GET production /inApps/v1/subscriptions/400001?status=1&status=4", try statuses(status: 4))
    #expect(try await fixture.operation(width: 200).statuses("400001", [.active, .billingGracePeriod]) == .success)
    #expect(fixture.out.lines.count == 2)
    let row = try #require(fixture.out.lines.last)
    #expect(row.hasPrefix("grace period  com.example.app.monthly  2026-01-31T00:00:00Z  renews for 9.99 EUR"))
    #expect(fixture.notes.lines == ["1 subscription in Production"])
  }

  @Test("statuses in a pipe contain both payloads in full")
  func statusesJSON() async throws {
    fixture.store.answer("GET production /inApps/v1/subscriptions/400001", try statuses(status: 1))
    #expect(try await fixture.operation(asJSON: true).statuses("400001", []) == .success)
    let line = try JSONObject(parsing: Array(try #require(fixture.out.lines.first).utf8))
    #expect(
      line.members.map(\.key) == [
        "environment", "subscriptionGroupIdentifier", "originalTransactionId", "status", "transaction", "renewalInfo",
      ])
    #expect(line["transaction"] == fixture.transaction("400002").jsonValue)
    #expect(line["renewalInfo"] == fixture.renewal().jsonValue)
  }

  @Test("an order that Apple does not know ends with status 1")
  func orders() async throws {
    fixture.store.answer("GET production /inApps/v1/lookup/MK5", .init(body: ["status": 1]))
    #expect(try await fixture.operation().order("MK5") == .failure)
    #expect(fixture.out.lines.isEmpty && fixture.notes.lines.count == 1)
    fixture.store.answer(
      "GET production /inApps/v1/lookup/MK6",
      .init(body: ["status": 0, "signedTransactions": [.string(try fixture.sign(fixture.transaction("400002")))]]))
    #expect(try await fixture.operation(asJSON: true).order("MK6") == .success)
    #expect(fixture.out.lines.count == 1)
  }

  @Test("orders are not looked up in the sandbox")
  func sandboxOrders() async throws {
    await #expect(throws: OperationError.self) { try await fixture.operation(environment: "Sandbox").order("MK5") }
    #expect(fixture.store.asked.isEmpty)
  }

  @Test("an app transaction shows the first version")
  func appTransaction() async throws {
    var transaction = AppTransaction()
    transaction.receiptType = .production
    transaction.bundleId = fixture.fixture.app.bundleId
    transaction.appAppleId = fixture.fixture.app.appAppleId
    transaction.appTransactionId = "704000000000000001"
    transaction.originalApplicationVersion = "1.0"
    transaction.originalPlatform = .iOS
    transaction.receiptCreationDate = APIFixture.now
    fixture.store.answer(
      "GET production /inApps/v1/transactions/appTransactions/400001",
      .init(body: ["signedAppTransactionInfo": .string(try fixture.sign(transaction))]))
    #expect(try await fixture.operation().appTransaction("400001") == .success)
    let text = fixture.out.lines.joined(separator: "\n")
    #expect(text.contains("first version    1.0") && text.contains("first platform   iOS"), "\(text)")
  }

  @Test("an escape sequence inside a payload is shown as text")
  func hostile() async throws {
    try answerTransaction(fixture.transaction("400002") { $0.productId = "a\u{1B}[2Jb" })
    #expect(try await fixture.operation().transaction("400002") == .success)
    #expect(!fixture.out.lines.joined().contains("\u{1B}"))
  }

  private func answerTransaction(_ payload: JWSTransactionDecodedPayload) throws {
    fixture.store.answer(
      "GET production /inApps/v1/transactions/400002",
      .init(body: ["signedTransactionInfo": .string(try fixture.sign(payload))]))
  }

  /// Advances the clock through the first pauses between attempts. The calls' time limits use the same clock.
  private func waitOutPauses(_ count: Int) async throws {
    var elapsed = Duration.zero
    for pause in APIOperation.pauses.prefix(count) {
      elapsed += pause
      try await waitUntil(fixture.time.nextDeadline == elapsed)
      fixture.time.advance(by: pause)
    }
  }

  private func page(_ ids: [String], revision: String, hasMore: Bool) throws -> FakeAppStore.Answer {
    .init(body: [
      "revision": .string(revision), "hasMore": .bool(hasMore),
      "signedTransactions": .array(try ids.map { .string(try fixture.sign(fixture.transaction($0))) }),
    ])
  }

  private func statuses(status: Int64) throws -> FakeAppStore.Answer {
    var item = LastTransactionsItem()
    item.status = Status(rawValue: Int(status))
    item.originalTransactionId = "400001"
    item.signedTransactionInfo = try fixture.sign(fixture.transaction("400002"))
    item.signedRenewalInfo = try fixture.sign(fixture.renewal())
    var group = SubscriptionGroupIdentifierItem()
    group.subscriptionGroupIdentifier = "21000001"
    group.lastTransactions = [item]
    var response = StatusResponse()
    response.data = [group]
    return .init(body: response.json)
  }
}
