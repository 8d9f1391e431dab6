// The sample bodies of Apple's own libraries, next to the checkout. Decoding and encoding loses nothing.

import AppStore
import TestEnvironment
import Testing

@Suite(.enabled(if: SharedMaterial.isPresent, "needs the corpus next to the checkout"))
struct APICorpusTests {
  /// The response type of each sample.
  private static let models: [String: any AppStoreObject.Type] = [
    "apiException": APIErrorBody.self, "apiTooManyRequestsException": APIErrorBody.self,
    "apiUnknownError": APIErrorBody.self, "familyTransactionNotSupportedError": APIErrorBody.self,
    "invalidTransactionIdError": APIErrorBody.self,
    "extendRenewalDateForAllActiveSubscribersResponse": MassExtendRenewalDateResponse.self,
    "extendSubscriptionRenewalDateResponse": ExtendRenewalDateResponse.self,
    "getAllSubscriptionStatusesResponse": StatusResponse.self,
    "getNotificationHistoryResponse": NotificationHistoryResponse.self,
    "getRefundHistoryResponse": RefundHistoryResponse.self,
    "getStatusOfSubscriptionRenewalDateExtensionsResponse": MassExtendRenewalDateStatusResponse.self,
    "getTestNotificationStatusResponse": CheckTestNotificationResponse.self,
    "lookupOrderIdResponse": OrderLookupResponse.self,
    "requestTestNotificationResponse": SendTestNotificationResponse.self,
  ]

  @Test func everySampleBodyDecodesAndEncodesBackWithoutLossOfAnyField() throws {
    let samples = try CorpusItem.all("sample-apple-").filter { $0.kind == "api_sample" }
    #expect(samples.count >= Self.models.count)
    for sample in samples {
      let model = try #require(Self.models[String(sample.id.dropFirst("sample-apple-".count))], "\(sample.id)")
      try check(model, #require(sample.body), sample.id)
    }
  }

  @Test func whatASampleSaysIsWhatItsPropertiesSay() throws {
    func body(_ name: String) throws -> JSONObject {
      try #require(try CorpusItem.all("sample-apple-\(name)").first?.body)
    }
    let error = APIErrorBody(json: try body("familyTransactionNotSupportedError"))
    #expect(error.errorCode == .familyTransactionNotSupported && error.errorMessage?.isEmpty == false)
    let statuses = StatusResponse(json: try body("getAllSubscriptionStatusesResponse"))
    #expect(statuses.data?.map { $0.lastTransactions?.map(\.status) } == [[.active, .revoked], [.expired]])
    let history = NotificationHistoryResponse(json: try body("getNotificationHistoryResponse"))
    #expect(
      history.notificationHistory?.map { $0.sendAttempts?.map(\.sendAttemptResult) }
        == [[.noResponse, .success], [.circularRedirect]])
    let order = OrderLookupResponse(json: try body("lookupOrderIdResponse"))
    #expect(order.status == .invalid && order.signedTransactions?.count == 2)
    let extended = ExtendRenewalDateResponse(json: try body("extendSubscriptionRenewalDateResponse"))
    #expect(extended.success == true && extended.effectiveDate != nil)
  }

  private func check<Object: AppStoreObject>(_: Object.Type, _ body: JSONObject, _ id: String) throws {
    let compact = body.serialized()
    let object = try Object(parsing: compact)
    #expect(object.serialized() == compact, "\(id)")
    #expect(object.oddFields.isEmpty, "\(id)")
    #expect(!object.json.members.isEmpty, "\(id)")
    for field in Object.documentedFields {
      #expect(field.value(in: object) == body[field.name], "\(id): \(field.name)")
    }
    let documented = Set(Object.documentedFields.map(\.name))
    #expect(Set(body.members.map(\.key)).subtracting(documented).isEmpty, "\(id)")
    // Also with unknown fields, at the top and nested: nothing may be lost.
    var unknown = body
    unknown["neverSeen"] = ["deep": [1, "two", .null]]
    #expect(try Object(parsing: unknown.serialized()).serialized() == unknown.serialized(), "\(id)")
  }
}
