import AppStore
import Testing

@testable import MillraceRecords

@Suite struct OrderingKeyTests {
  private static func key(
    _ payload: String, transaction: String? = nil, renewalInfo: String? = nil, appTransaction: String? = nil
  ) throws -> String? {
    OrderingKey.of(
      try RecordFixtures.payload(payload),
      transaction: try transaction.map { JWSTransactionDecodedPayload(json: try RecordFixtures.object($0)) },
      renewalInfo: try renewalInfo.map { JWSRenewalInfoDecodedPayload(json: try RecordFixtures.object($0)) },
      appTransaction: try appTransaction.map { AppTransaction(json: try RecordFixtures.object($0)) })
  }

  private static let uuid = #""notificationUUID":"u""#

  @Test func `The key of a subscription is its original transaction`() throws {
    #expect(try Self.key("{\(Self.uuid)}", transaction: #"{"originalTransactionId":"1"}"#) == "1")
    #expect(
      try Self.key(
        "{\(Self.uuid)}", transaction: #"{"originalTransactionId":"1"}"#,
        renewalInfo: #"{"originalTransactionId":"2"}"#) == "1")
  }

  @Test func `Without a transaction the key comes from the renewal info`() throws {
    #expect(try Self.key("{\(Self.uuid)}", renewalInfo: #"{"originalTransactionId":"2"}"#) == "2")
    #expect(
      try Self.key(
        "{\(Self.uuid)}", transaction: #"{"originalTransactionId":""}"#,
        renewalInfo: #"{"originalTransactionId":"2"}"#) == "2")
  }

  @Test func `The key of a summary is its request identifier`() throws {
    #expect(try Self.key("{\(Self.uuid),\"summary\":{\"requestIdentifier\":\"r\"}}") == "r")
  }

  @Test func `The key of an external purchase token is its ID`() throws {
    #expect(try Self.key("{\(Self.uuid),\"externalPurchaseToken\":{\"externalPurchaseId\":\"e\"}}") == "e")
  }

  @Test func `The key of a consent notification is the app transaction`() throws {
    #expect(
      try Self.key("{\(Self.uuid),\"appData\":{}}", appTransaction: #"{"appTransactionId":"a"}"#) == "a")
  }

  @Test func `The key of any other notification is its UUID`() throws {
    #expect(try Self.key("{\(Self.uuid),\"data\":{}}") == "u")
    #expect(try Self.key("{\(Self.uuid),\"summary\":{\"requestIdentifier\":7}}") == "u")
  }

  @Test(arguments: ["{}", #"{"notificationUUID":""}"#, #"{"notificationUUID":3}"#])
  func `A notification without a UUID has no key`(payload: String) throws {
    #expect(try Self.key(payload) == nil)
  }

  @Test func `The key of a version 1 body is its original transaction`() throws {
    let body = ResponseBodyV1(json: try RecordFixtures.object(#"{"original_transaction_id":"7"}"#))
    #expect(OrderingKey.of(body) == "7")
  }

  @Test func `Without it, the key comes from the row refunded last, else the row purchased last`() throws {
    let rows = """
      {"unified_receipt":{"latest_receipt_info":[
      {"original_transaction_id":"old","purchase_date_ms":"1","cancellation_date_ms":"5"},
      {"original_transaction_id":"refunded","purchase_date_ms":"2","cancellation_date_ms":"9"},
      {"original_transaction_id":"newest","purchase_date_ms":"3"}]}}
      """
    #expect(OrderingKey.of(ResponseBodyV1(json: try RecordFixtures.object(rows))) == "refunded")
    let bought = rows.replacing("cancellation_date_ms", with: "something_else")
    #expect(OrderingKey.of(ResponseBodyV1(json: try RecordFixtures.object(bought))) == "newest")
  }
}
