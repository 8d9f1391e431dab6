import AppStore
import AppStoreSigning
import Foundation
import Testing

struct QueryItemTests {
  @Test func aFullHistoryHasItsQueryInAlwaysTheSameOrder() {
    let request = TransactionHistoryRequest(
      startDate: Timestamp(millisecondsSince1970: 123_455), endDate: Timestamp(millisecondsSince1970: 123_456),
      productIds: ["com.example.1", "com.example.2"], productTypes: [.consumable, .autoRenewable], sort: .ascending,
      subscriptionGroupIdentifiers: ["sub_group_id", "sub_group_id_2"], inAppOwnershipType: .familyShared,
      revoked: false)
    #expect(
      request.queryItems(revision: "revision+/=1").encodedQuery
        == "revision=revision%2B%2F%3D1&startDate=123455&endDate=123456&productId=com.example.1"
        + "&productId=com.example.2&productType=CONSUMABLE&productType=AUTO_RENEWABLE&sort=ASCENDING"
        + "&subscriptionGroupIdentifier=sub_group_id&subscriptionGroupIdentifier=sub_group_id_2"
        + "&inAppOwnershipType=FAMILY_SHARED&revoked=false")
    #expect(request.queryItems().first == QueryItem("startDate", "123455"))
    #expect(TransactionHistoryRequest().queryItems().isEmpty)
    #expect(TransactionHistoryRequest().queryItems(revision: "r").encodedQuery == "revision=r")
  }

  @Test func eachStatusIsAParameterOfItsOwn() {
    #expect(
      SubscriptionStatusesRequest(statuses: [.active, .billingGracePeriod]).queryItems.encodedQuery
        == "status=1&status=4")
    #expect(SubscriptionStatusesRequest().queryItems.encodedQuery.isEmpty)
  }

  @Test(arguments: 0..<20)
  func whatIsEncodedDecodesToWhatItWas(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let text = String(decoding: random.bytes(64), as: UTF8.self)
    #expect(text.percentEncoded.removingPercentEncoding == text)
    #expect(text.percentEncoded.utf8.allSatisfy { !"/?#&=+ \\".utf8.contains($0) && $0 < 0x7F && $0 > 0x20 })
  }

  @Test func onlyUnreservedCharactersStandAsTheyAre() {
    #expect("aZ09-._~".percentEncoded == "aZ09-._~")
    #expect("a b/ü%".percentEncoded == "a%20b%2F%C3%BC%25")
  }
}
