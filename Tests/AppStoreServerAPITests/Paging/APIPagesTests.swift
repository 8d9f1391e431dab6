import AppStore
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite struct APIPagesTests {
  private let fixture: APIFixture
  init() throws { fixture = try APIFixture() }

  private func page(_ ids: [String], _ revision: String?, hasMore: Bool) throws -> ExchangeAnswer {
    var body: JSONObject = [
      "signedTransactions": .array(try ids.map { .string(try fixture.transaction(id: $0)) }),
      "hasMore": .bool(hasMore),
    ]
    body["revision"] = revision.map { .string($0) }
    return .json(200, body)
  }

  private let request = TransactionHistoryRequest(
    startDate: Timestamp(millisecondsSince1970: 1), productIds: ["a b", "c"], sort: .descending, revoked: false)
  private let query = "startDate=1&productId=a%20b&productId=c&sort=DESCENDING&revoked=false"

  @Test func `every page is requested with the same query and the previous cursor`() async throws {
    let pages = [
      try page(["1", "2"], "r/1", hasMore: true), try page([], "r/2", hasMore: true),
      try page(["3"], "r/3", hasMore: false),
    ]
    let exchange = ScriptedExchange { _, index in pages[index] }
    let client = try fixture.client(exchange)
    var ids: [String?] = []
    for try await item in client.getTransactionHistory(APIFixture.transactionId, request, in: .production).items {
      ids.append(item.payload.transactionId)
    }
    #expect(ids == ["1", "2", "3"])
    let path = "/inApps/v2/history/\(APIFixture.transactionId)"
    #expect(
      exchange.requests.map(\.target) == [
        "\(path)?\(query)", "\(path)?revision=r%2F1&\(query)", "\(path)?revision=r%2F2&\(query)",
      ])
  }

  @Test func `the revision of the last page can be stored and continued`() async throws {
    let answer = try page(["1"], "r9", hasMore: false)
    let exchange = ScriptedExchange(answer: answer)
    let client = try fixture.client(exchange)
    var last: String?
    for try await page in client.getRefundHistory(APIFixture.transactionId, in: .production) {
      last = page.value.revision
    }
    #expect(last == "r9")
    for try await page in client.getRefundHistory(APIFixture.transactionId, after: last, in: .production) {
      #expect(page.value.items.count == 1)
    }
    #expect(exchange.requests.last?.target.hasSuffix("?revision=r9") == true)
    #expect(exchange.requests.count == 2)
  }

  /// [revision: "store the revision value only if you request the transaction history in ASCENDING sort order"]
  @Test func `the last page of a descending history has no revision to store`() async throws {
    let pages = [try page(["1"], "r/1", hasMore: true), try page(["2"], "r/2", hasMore: false)]
    for order in [nil, .ascending, .descending] as [TransactionHistoryRequest.Order?] {
      let exchange = ScriptedExchange { _, index in pages[index] }
      let client = try fixture.client(exchange)
      var revisions: [String?] = []
      let request = TransactionHistoryRequest(sort: order)
      for try await page in client.getTransactionHistory(APIFixture.transactionId, request, in: .production) {
        revisions.append(page.value.revision)
      }
      #expect(revisions == ["r/1", order == .descending ? nil : "r/2"])
    }
  }

  @Test func `all pages come from the environment of the first`() async throws {
    let body = JSON.string(try fixture.transaction(environment: .sandbox))
    let exchange = ScriptedExchange { request, index in
      guard request.url.contains("sandbox") else { return .error(4_040_010) }
      return .json(
        200, ["signedTransactions": [body], "revision": .string("r\(index)"), "hasMore": .bool(index < 2)])
    }
    let client = try fixture.client(exchange)
    var environments: [AppStoreEnvironment] = []
    for try await page in client.getTransactionHistory(APIFixture.transactionId) {
      environments.append(page.environment)
    }
    #expect(environments == [.sandbox, .sandbox])
    #expect(exchange.requests.map { $0.url.contains("sandbox") } == [false, true, true])
  }

  @Test func `a notification history sends the same body with every page`() async throws {
    let notification = JSON.string(try fixture.notification())
    let exchange = ScriptedExchange { _, index in
      .json(
        200,
        [
          "notificationHistory": [["signedPayload": notification, "sendAttempts": []]],
          "paginationToken": .string("t\(index)"), "hasMore": .bool(index < 2),
        ])
    }
    let client = try fixture.client(exchange)
    let now = fixture.clock.wallTime
    var request = NotificationHistoryRequest(startDate: now - .seconds(180 * 86_400), endDate: now)
    request.onlyFailures = true
    var count = 0
    for try await item in client.getNotificationHistory(request, in: .production).items {
      #expect(item.jws == String(jsonValue: notification))
      count += 1
      // The start date leaves the window while pages are read. Apple decides whether that is an error.
      fixture.manual.advance(by: .seconds(2))
    }
    #expect(count == 3)
    let path = "/inApps/v1/notifications/history"
    #expect(
      exchange.requests.map(\.target) == [path, "\(path)?paginationToken=t0", "\(path)?paginationToken=t1"])
    #expect(exchange.requests.allSatisfy { $0.body == request.serialized() })
  }

  @Test func `an unverified history returns every item of a page unchanged`() async throws {
    let notification = JSON.string(try fixture.notification())
    let items: [JSON] = [
      ["signedPayload": notification, "sendAttempts": [["attemptDate": 1, "sendAttemptResult": "SUCCESS"], 7]],
      ["signedPayload": "eyJhbGciOiJub25lIn0.e30."], ["signedPayload": 5], "no object",
    ]
    let exchange = ScriptedExchange(answer: .json(200, ["notificationHistory": .array(items), "hasMore": false]))
    let client = try fixture.client(exchange)
    let now = fixture.clock.wallTime
    let request = NotificationHistoryRequest(startDate: now - .seconds(60), endDate: now)
    var found: [UnverifiedNotification] = []
    for try await item in client.getUnverifiedNotificationHistory(request, in: .production).items { found.append(item) }
    #expect(found.map(\.json) == items)
    #expect(found.map { $0.jws != nil } == [true, true, false, false])
    #expect(found.map(\.sendAttempts.count) == [1, 0, 0, 0])
    // The same page, verified, is refused as a whole.
    await #expect(throws: APIError.self) {
      for try await _ in client.getNotificationHistory(request, in: .production) {}
    }
  }

  @Test(arguments: [nil, "r1"])
  func `a page without a cursor, or with its own, ends the iteration`(revision: String?) async throws {
    let answer = try page(["1"], revision, hasMore: true)
    let exchange = ScriptedExchange(answer: answer)
    let client = try fixture.client(exchange)
    var pages = client.getTransactionHistory(APIFixture.transactionId, in: .production).makeAsyncIterator()
    var (seen, error): (Int, APIError?) = (0, nil)
    do {
      while try await pages.next() != nil { seen += 1 }
    } catch let failure {
      error = failure
    }
    #expect(seen == (revision == nil ? 0 : 1))
    let kind = try #require(error?.kind)
    guard case .undecodable(let what) = kind else {
      Issue.record("\(kind)")
      return
    }
    #expect(what.contains("revision"))
    // After a failure the sequence has ended.
    #expect(try await pages.next() == nil)
    #expect(exchange.requests.count == (revision == nil ? 1 : 2))
  }

  @Test func `an error in the middle ends the iteration, which can be continued`() async throws {
    let first = try page(["1"], "r1", hasMore: true)
    let second = try page(["2"], "r2", hasMore: false)
    let exchange = ScriptedExchange { _, index in index == 0 ? first : index == 1 ? .html(502) : second }
    let client = try fixture.client(exchange)
    var cursor: String?
    var ids: [String] = []
    for _ in 0..<2 {
      do {
        for try await page in client.getTransactionHistory(
          APIFixture.transactionId, request, after: cursor, in: .production)
        {
          cursor = page.value.revision
          ids += page.value.items.compactMap(\.payload.transactionId)
        }
      } catch {
        #expect(error.errorClass == .retryNow)
      }
    }
    #expect(ids == ["1", "2"])
  }
}
