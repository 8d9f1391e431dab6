// Checks that responses are verified like any other untrusted data.

import AppStore
import AppStoreSignature
import MillraceTime
import AppStoreSigning
import Testing

@testable import AppStoreServerAPI

@Suite struct VerificationTests {
  private let fixture: APIFixture
  init() throws { fixture = try APIFixture() }

  private func item(_ error: APIError?) -> String? {
    if case .unverifiable(let item, _)? = error?.kind { item } else { nil }
  }

  private func error<Value: Sendable>(
    _ answer: JSONObject, _ ask: (AppStoreServerClient) async throws(APIError) -> Value
  ) async throws -> APIError? {
    let client = try fixture.client(ScriptedExchange(answer: .json(200, answer)))
    return await apiError { () async throws(APIError) in try await ask(client) }
  }

  @Test func `a transaction that another authority signed is refused`() async throws {
    let forged = try fixture.transaction(by: try fixture.foreignChain())
    let error = try await error(["signedTransactionInfo": .string(forged)]) { (client) async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId)
    }
    #expect(item(error) == "signedTransactionInfo")
    #expect(error?.errorClass == .configuration)
    #expect(error?.status == 200)
  }

  @Test func `a transaction with one changed letter is refused`() async throws {
    var jws = Array(try fixture.transaction().utf8)
    let payload = try #require(jws.firstIndex(of: UInt8(ascii: "."))) + 20
    jws[payload] = jws[payload] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    let text = String(decoding: jws, as: UTF8.self)
    let error = try await error(["signedTransactionInfo": .string(text)]) { (client) async throws(APIError) in
      try await client.getTransactionInfo(APIFixture.transactionId)
    }
    #expect(item(error) == "signedTransactionInfo")
  }

  @Test func `a genuine transaction of another environment or app is refused`() async throws {
    let sandbox = try fixture.transaction(environment: .sandbox)
    let foreign = try fixture.sign([
      "transactionId": "1", "bundleId": "com.example.other", "environment": "Production",
      "signedDate": fixture.clock.wallTime.jsonValue,
    ])
    for jws in [sandbox, foreign] {
      let error = try await error(["signedTransactionInfo": .string(jws)]) { (client) async throws(APIError) in
        try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
      }
      #expect(item(error) == "signedTransactionInfo")
    }
  }

  @Test func `one forged item fails its page, and the error names it`() async throws {
    let genuine = JSON.string(try fixture.transaction())
    let forged = JSON.string(try fixture.transaction(by: try fixture.foreignChain()))
    let page: JSONObject = ["signedTransactions": [genuine, forged, genuine], "hasMore": false]
    let error = try await error(page) { (client) async throws(APIError) in
      var pages = client.getTransactionHistory(APIFixture.transactionId).makeAsyncIterator()
      return try await pages.next()
    }
    #expect(item(error) == "signedTransactions[1]")
  }

  @Test func `one item that is not as documented is skipped and listed, and the others count`() async throws {
    let genuine = JSON.string(try fixture.transaction())
    let withoutApp = JSON.string(
      try fixture.sign([
        "transactionId": "1", "environment": "Production", "signedDate": fixture.clock.wallTime.jsonValue,
      ]))
    for (odd, reason) in [
      (JSON.integer(7), VerificationError.Reason.format), (.null, .format), ("x", .format),
      (withoutApp, .appIdentifier),
    ] {
      let answer: JSONObject = ["signedTransactions": [genuine, odd, genuine], "revision": "r", "hasMore": false]
      let client = try fixture.client(ScriptedExchange(answer: .json(200, answer)))
      var pages = client.getRefundHistory(APIFixture.transactionId).makeAsyncIterator()
      let page = try #require(try await pages.next())
      #expect(page.value.items.count == 2)
      #expect(page.skipped.map(\.item) == ["signedTransactions[1]"] && page.skipped.first?.error.reason == reason)
    }
  }

  @Test func `a list without one item as documented fails`() async throws {
    for odd: JSON in [[7, .null], "x", 7] {
      let error = try await error(["signedTransactions": odd, "hasMore": false]) { (client) async throws(APIError) in
        var pages = client.getTransactionHistory(APIFixture.transactionId).makeAsyncIterator()
        return try await pages.next()
      }
      #expect(error?.kind == .undecodable("signedTransactions is not as documented"))
    }
  }

  @Test func `renewal info, app transaction and notification are verified too`() async throws {
    let foreign = try fixture.foreignChain()
    let last: JSON = [
      "status": 1, "signedTransactionInfo": .string(try fixture.transaction()),
      "signedRenewalInfo": .string(try fixture.renewalInfo(by: foreign)),
    ]
    let statuses = try await error(["data": [["lastTransactions": [last]]]]) { (client) async throws(APIError) in
      try await client.getAllSubscriptionStatuses(APIFixture.transactionId)
    }
    #expect(item(statuses) == "data[0].lastTransactions[0].signedRenewalInfo")
    let app = try await error(
      ["signedAppTransactionInfo": .string(try fixture.appTransaction(by: foreign))]
    ) { (client) async throws(APIError) in try await client.getAppTransactionInfo(APIFixture.transactionId) }
    #expect(item(app) == "signedAppTransactionInfo")
    let test = try await error(
      ["signedPayload": .string(try fixture.notification(by: foreign)), "sendAttempts": []]
    ) { (client) async throws(APIError) in try await client.getTestNotificationStatus("token", in: .production) }
    #expect(item(test) == "signedPayload")
  }

  @Test func `a genuine notification with a forged transaction inside is refused`() async throws {
    let forgeries = try Forgeries(
      chain: fixture.chain,
      app: SampleApp(bundleId: APIFixture.bundleId, appAppleId: APIFixture.appAppleId, environment: .production),
      signedDate: fixture.clock.wallTime, seed: 3
    ).all()
    var seen = 0
    for forgery in forgeries where [.innerForged, .innerMismatch].contains(forgery.expectation) {
      seen += 1
      let payload = JSON.string(String(decoding: forgery.jws, as: UTF8.self))
      let error = try await error(["signedPayload": payload, "sendAttempts": []]) { (client) async throws(APIError) in
        try await client.getTestNotificationStatus("token", in: .production)
      }
      #expect(item(error)?.hasPrefix("signedPayload") == true, "\(forgery)")
    }
    #expect(seen > 1)
  }
}
