import AppStore
import AppStoreSignature
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct TransactionEndpointTests {
  @Test func `a transaction is returned by its identifier, with a current signature`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    try simulator.pass(.seconds(60))
    let json = try await simulator.json(.get, "/inApps/v1/transactions/\(id)")
    let transaction = try await simulator.transaction(json["signedTransactionInfo"])
    #expect(transaction.transactionId == String(id))
    #expect(transaction.productId == SimulatorFixture.monthly)
    #expect(transaction.signedDate == simulator.now)
  }

  static let wrongIds: [(path: String, code: Int64)] = [
    ("/inApps/v1/transactions/abc", 4_000_006), ("/inApps/v1/transactions/0", 4_000_006),
    ("/inApps/v1/transactions/99999999999999999999", 4_000_006), ("/inApps/v1/transactions/7", 4_040_010),
    ("/inApps/v2/history/7", 4_040_010), ("/inApps/v1/history/x", 4_000_006), ("/inApps/v1/subscriptions/7", 4_040_010),
    ("/inApps/v1/transactions/appTransactions/7", 4_040_010), ("/inApps/v2/refund/lookup/7", 4_040_010),
    ("/inApps/v1/refund/lookup/7", 4_040_005), ("/inApps/v1/refund/lookup/x", 4_000_008),
  ]

  @Test(arguments: wrongIds)
  func `malformed and unknown identifiers have their own errors`(path: String, code: Int64) async throws {
    let answer = try await SimulatorFixture().answer(.get, path)
    #expect(try answer.code == code)
    #expect(answer.status == Int(code / 10_000))
  }

  @Test func `a transaction of the other environment is not found`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy(in: simulator.sandbox)
    #expect(try await simulator.answer(.get, "/inApps/v1/transactions/\(id)").code == 4_040_010)
    let json = try await simulator.json(.get, "/inApps/v1/transactions/\(id)", in: .sandbox)
    #expect(try await simulator.transaction(json["signedTransactionInfo"]).environment == .sandbox)
  }

  @Test(arguments: ["/inApps/v2/history/", "/inApps/v1/history/"])
  func `a history has pages of twenty, oldest first, without duplicates`(path: String) async throws {
    let simulator = try SimulatorFixture()
    var ids = [try simulator.buy(SimulatorFixture.lifetime)]
    for _ in 0..<44 {
      try simulator.pass(.seconds(1))
      ids.append(try simulator.buyAgain(SimulatorFixture.coins, like: ids[0]))
    }
    var seen: [String] = []
    var revision: String?
    for expected in [20, 20, 5] {
      let json = try await simulator.json(
        .get, path + "\(ids[3])", query: revision.map { [("revision", $0)] } ?? [])
      let page = try await simulator.transactionIds(json)
      #expect(page.count == expected)
      #expect(json["hasMore"] == .bool(expected == 20))
      seen += page
      revision = json["revision"].flatMap(String.init(jsonValue:))
    }
    #expect(seen == ids.map { String($0) })
    // The last revision finds only later transactions.
    let newest = try simulator.buyAgain(SimulatorFixture.coins, like: ids[0])
    let later = try await simulator.json(.get, path + "\(ids[3])", query: [("revision", try #require(revision))])
    #expect(try await simulator.transactionIds(later) == [String(newest)])
  }

  /// [HistoryResponse: "If the response is sorted in ASCENDING order, you receive the transaction again, with updated
  /// data."; revision: "store the revision value only if you request the transaction history in ASCENDING sort order"]
  @Test(arguments: [false, true])
  func `a transaction that changes comes again after a kept revision, in ascending order only`(
    isDescending: Bool
  ) async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let path = "/inApps/v2/history/\(id)"
    let sort = [(name: "sort", value: isDescending ? "DESCENDING" : "ASCENDING")]
    for number in 0..<25 {
      try simulator.pass(.seconds(1))
      if number.isMultiple(of: 2) { try simulator.buyAgain(SimulatorFixture.coins, like: id) }
    }
    let first = try await simulator.json(.get, path, query: sort)
    #expect(first["hasMore"] == false)
    let revision = try #require(first["revision"].flatMap(String.init(jsonValue:)))
    try simulator.world.withState { try $0.refund(id, at: simulator.now + .seconds(1)) }
    let next = try await simulator.json(.get, path, query: sort + [("revision", revision)])
    #expect(try await simulator.transactionIds(next) == (isDescending ? [] : [String(id)]))
    guard !isDescending, case .array(let tokens)? = next["signedTransactions"] else { return }
    #expect(try await simulator.transaction(tokens.first).revocationDate == simulator.now + .seconds(1))
  }

  @Test func `a transaction that an upgrade changes between two pages comes again`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    for _ in 0..<30 {
      try simulator.pass(.seconds(1))
      try simulator.buyAgain(SimulatorFixture.coins, like: id)
    }
    let path = "/inApps/v2/history/\(id)"
    let first = try await simulator.json(.get, path)
    #expect(try await simulator.transactionIds(first).first == String(id))
    try simulator.pass(.seconds(1))
    try simulator.world.withState { _ = try $0.changePlan(id, to: SimulatorFixture.better, at: simulator.now) }
    let revision = try #require(first["revision"].flatMap(String.init(jsonValue:)))
    let second = try await simulator.json(.get, path, query: [("revision", revision)])
    guard case .array(let tokens)? = second["signedTransactions"] else { throw UnexpectedOutcome(outcome: nil) }
    var transactions: [JWSTransactionDecodedPayload] = []
    for token in tokens { transactions.append(try await simulator.transaction(token)) }
    #expect(transactions.count == 13 && second["hasMore"] == false)
    #expect(transactions.first { $0.transactionId == String(id) }?.isUpgraded == true)
  }

  @Test func `version 1 omits finished consumables unless they are refunded`() async throws {
    let simulator = try SimulatorFixture()
    let kept = try simulator.buy(SimulatorFixture.coins)
    let finished = try simulator.buyAgain(SimulatorFixture.coins, like: kept)
    let refunded = try simulator.buyAgain(SimulatorFixture.coins, like: kept)
    for id in [finished, refunded] {
      #expect(try await simulator.answer(.post, "/inApps/v1/transactions/\(id)/finish").status == 200)
    }
    try simulator.world.withState { try $0.refund(refunded, at: simulator.now + .seconds(1)) }
    let v1 = try await simulator.transactionIds(simulator.json(.get, "/inApps/v1/history/\(kept)"))
    let v2 = try await simulator.transactionIds(simulator.json(.get, "/inApps/v2/history/\(kept)"))
    #expect(v1 == [kept, refunded].map { String($0) })
    #expect(v2 == [kept, finished, refunded].map { String($0) })
  }

  @Test func `descending reverses the order, and a filter selects its values`() async throws {
    let simulator = try SimulatorFixture()
    let subscription = try simulator.buy()
    try simulator.pass(.seconds(1))
    let coins = try simulator.buyAgain(SimulatorFixture.coins, like: subscription)
    let path = "/inApps/v2/history/\(subscription)"
    let descending = try await simulator.json(.get, path, query: [("sort", "DESCENDING")])
    #expect(try await simulator.transactionIds(descending) == [coins, subscription].map { String($0) })
    let consumables = try await simulator.json(.get, path, query: [("productType", "CONSUMABLE")])
    #expect(try await simulator.transactionIds(consumables) == [String(coins)])
    #expect(try await simulator.answer(.get, path, query: [("sort", "UP")]).code == 4_000_021)
  }

  @Test func `a malformed revision, or one of another query, is refused and recorded`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let path = "/inApps/v2/history/\(id)"
    let revision = try #require(try await simulator.json(.get, path)["revision"].flatMap(String.init(jsonValue:)))
    #expect(try await simulator.answer(.get, path, query: [("revision", "x")]).code == 4_000_005)
    #expect(simulator.breaches(.pageQueryChanged) == 0)
    let other = try await simulator.answer(.get, path, query: [("revision", revision), ("revoked", "false")])
    #expect(try other.code == 4_000_005)
    #expect(simulator.breaches(.pageQueryChanged) == 1)
  }

  @Test func `an app transaction is found by any of the customer's identifiers`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let path = "/inApps/v1/transactions/appTransactions/"
    let json = try await simulator.json(.get, path + "\(id)")
    let token = try #require(json["signedAppTransactionInfo"].flatMap(String.init(jsonValue:)))
    let payload = try await simulator.verifier.verifyAppTransaction(Array(token.utf8), identity: .any).payload
    let appTransactionId = try #require(payload.appTransactionId)
    #expect(try await simulator.answer(.get, path + appTransactionId).status == 200)
    #expect(try await simulator.answer(.get, "/inApps/v2/history/" + appTransactionId).status == 200)
    #expect(try await simulator.answer(.get, "/inApps/v1/transactions/" + appTransactionId).code == 4_000_048)
  }

  /// [originalApplicationVersion: "In the sandbox testing environment, the value is always 1.0."]
  @Test func `the first version of an app is 1.0 in the sandbox`() async throws {
    let simulator = try SimulatorFixture()
    for environment in [AppStoreEnvironment.production, .sandbox] {
      let id = try simulator.buy(in: environment == .sandbox ? simulator.sandbox : simulator.production)
      let json = try await simulator.json(.get, "/inApps/v1/transactions/appTransactions/\(id)", in: environment)
      let token = try #require(json["signedAppTransactionInfo"].flatMap(String.init(jsonValue:)))
      let payload = try await simulator.verifier.verifyAppTransaction(Array(token.utf8), identity: .any).payload
      #expect(payload.originalApplicationVersion == (environment == .sandbox ? "1.0" : "1"))
    }
  }

  @Test func `an order is found in production, and an unknown one is a valid response`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let order = try simulator.world.withState { OrderID.text(try #require($0.transactions[id]?.orderId)) }
    let json = try await simulator.json(.get, "/inApps/v1/lookup/\(order)")
    #expect(json["status"] == 0)
    #expect(try await simulator.transactionIds(json) == [String(id)])
    #expect(try await simulator.json(.get, "/inApps/v1/lookup/MNOSUCH222") == ["status": 1])
    #expect(try await simulator.answer(.get, "/inApps/v1/lookup/\(order)", in: .sandbox).status == 404)
  }

  @Test func `an app account token is set for a purchase and its later renewals`() async throws {
    let simulator = try SimulatorFixture()
    let id = try simulator.buy()
    let token = "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"
    let path = "/inApps/v1/transactions/\(id)/appAccountToken"
    let answer = try await simulator.answer(.put, path, body: ["appAccountToken": .string(token)])
    #expect(answer == .empty())
    let json = try await simulator.json(.get, "/inApps/v1/transactions/\(id)")
    #expect(try await simulator.transaction(json["signedTransactionInfo"]).appAccountToken == token)
    try simulator.pass(.seconds(32 * 86_400))
    let renewal = try simulator.world.withState { try #require($0.subscriptions[id]?.transactionId) }
    #expect(renewal != id)
    let renewed = try await simulator.json(.get, "/inApps/v1/transactions/\(renewal)")
    #expect(try await simulator.transaction(renewed["signedTransactionInfo"]).appAccountToken == token)
    let wrong = try await simulator.answer(
      .put, "/inApps/v1/transactions/\(renewal)/appAccountToken", body: ["appAccountToken": .string(token)])
    #expect(try wrong.code == 4_000_187)
  }

  @Test func `an app account token must be a UUID, for the customer's own purchase`() async throws {
    let simulator = try SimulatorFixture()
    let own = try simulator.buy()
    let shared = try simulator.buy(ownership: .familyShared)
    let token: JSONObject = ["appAccountToken": "b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"]
    func code(_ id: Int64, _ body: JSONObject) async throws -> Int64? {
      try await simulator.answer(.put, "/inApps/v1/transactions/\(id)/appAccountToken", body: body).code
    }
    #expect(try await code(own, ["appAccountToken": "me"]) == 4_000_183)
    #expect(try await code(own, [:]) == 4_000_183)
    #expect(try await code(shared, token) == 4_000_185)
    #expect(try await code(7, token) == 4_040_005)
  }
}
