import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct HistoryQueryTests {
  private let row = HistoryQuery.Row(
    purchaseDate: Timestamp(millisecondsSince1970: 1_000), productId: "pro.monthly", type: .autoRenewableSubscription,
    group: "21345678", ownership: .purchased, isRevoked: false)

  private func query(
    _ parameters: [(name: String, value: String)], _ endpoint: SimulatedEndpoint = .getTransactionHistory
  ) throws(APIFailure) -> HistoryQuery {
    try HistoryQuery(.test(endpoint, ["1"], query: parameters))
  }

  static let mistakes: [(name: String, values: [String], failure: APIFailure)] = [
    ("startDate", ["soon"], .invalidStartDate), ("startDate", ["-1"], .invalidStartDate),
    ("startDate", ["1", "2"], .invalidStartDate), ("endDate", ["1.5"], .invalidEndDate),
    ("productType", ["SUBSCRIPTION"], .invalidProductType), ("productType", ["CONSUMABLE", ""], .invalidProductType),
    ("productId", [""], .invalidProductId), ("sort", ["UP"], .invalidSort),
    ("sort", ["ASCENDING", "DESCENDING"], .invalidSort),
    ("subscriptionGroupIdentifier", [""], .invalidSubscriptionGroupIdentifier),
    ("inAppOwnershipType", ["STOLEN"], .invalidInAppOwnershipType), ("revoked", ["yes"], .invalidRevoked),
  ]

  @Test(arguments: mistakes.indices)
  func `an invalid filter has its own error`(index: Int) {
    let mistake = Self.mistakes[index]
    #expect(throws: mistake.failure) { try query(mistake.values.map { (mistake.name, $0) }) }
  }

  @Test func `the end must be after the start`() {
    #expect(throws: APIFailure.startDateAfterEndDate) { try query([("startDate", "5"), ("endDate", "5")]) }
  }

  static let filters: [(name: String, value: String, wanted: Bool)] = [
    ("startDate", "1000", true), ("startDate", "1001", false), ("endDate", "1001", true), ("endDate", "1000", false),
    ("productId", "pro.monthly", true), ("productId", "pro.yearly", false), ("productType", "AUTO_RENEWABLE", true),
    ("productType", "CONSUMABLE", false), ("subscriptionGroupIdentifier", "21345678", true),
    ("subscriptionGroupIdentifier", "1", false), ("inAppOwnershipType", "PURCHASED", true),
    ("inAppOwnershipType", "FAMILY_SHARED", false), ("revoked", "false", true), ("revoked", "true", false),
    ("sort", "DESCENDING", true),
  ]

  @Test(arguments: filters.indices)
  func `a filter selects its values`(index: Int) throws {
    let filter = Self.filters[index]
    #expect(try query([(filter.name, filter.value)]).wants(row) == filter.wanted, "\(filter.name)=\(filter.value)")
  }

  @Test func `values of one filter are alternatives, and several filters all apply`() throws {
    #expect(try query([("productId", "x"), ("productId", "pro.monthly")]).wants(row))
    #expect(try !query([("productId", "pro.monthly"), ("revoked", "true")]).wants(row))
  }

  @Test func `only version 1 has excludeRevoked`() throws {
    var revoked = row
    revoked.isRevoked = true
    #expect(try !query([("excludeRevoked", "true")], .getTransactionHistoryV1).wants(revoked))
    #expect(try query([("excludeRevoked", "true")]).wants(revoked))
    #expect(throws: APIFailure.invalidExcludeRevoked) { try query([("excludeRevoked", "1")], .getTransactionHistoryV1) }
  }

  @Test func `a page token is bound to the rest of the query, in any order`() {
    let first = SimulatedCall.test(.getTransactionHistory, ["1"], query: [("productId", "a"), ("sort", "ASCENDING")])
    let next = SimulatedCall.test(
      .getTransactionHistory, ["1"], query: [("sort", "ASCENDING"), ("revision", "x"), ("productId", "a")])
    let other = SimulatedCall.test(.getTransactionHistory, ["1"], query: [("productId", "b"), ("revision", "x")])
    func bound(_ call: SimulatedCall) -> String { call.pageQuery(without: "revision", about: "1") }
    #expect(bound(first) == bound(next))
    #expect(bound(first) != bound(other))
  }
}
