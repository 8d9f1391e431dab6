import AppStore
import Testing

struct ResponseBodyV2DecodedPayloadAppTests {
  @Test(
    arguments: [
      (["data": ["environment": "Sandbox", "bundleId": "b", "appAppleId": 7]], "Sandbox", "b", 7),
      (["data": ["environment": "Production", "bundleId": "b"]], "Production", "b", nil),
      (["summary": ["environment": "Production", "bundleId": "s", "appAppleId": 8]], "Production", "s", 8),
      (["appData": ["environment": "Xcode", "bundleId": "a", "appAppleId": 9]], "Xcode", "a", 9),
      (
        ["externalPurchaseToken": ["externalPurchaseId": "SANDBOX_1", "bundleId": "e", "appAppleId": 1]], "Sandbox",
        "e",
        1
      ),
      (["externalPurchaseToken": ["externalPurchaseId": "SANDBOX", "bundleId": "e"]], "Sandbox", "e", nil),
      (["externalPurchaseToken": ["externalPurchaseId": "sandbox_1"]], "Production", nil, nil),
      (["externalPurchaseToken": ["externalPurchaseId": "1_SANDBOX"]], "Production", nil, nil),
      (["externalPurchaseToken": [:]], "Production", nil, nil),
      // Only the first part that is present counts.
      (["summary": ["environment": "Production", "bundleId": "s"], "data": ["bundleId": "d"]], nil, "d", nil),
      (["data": "odd", "appData": ["environment": "Sandbox"]], "Sandbox", nil, nil),
      (["data": ["environment": "Mars"]], "Mars", nil, nil),
      ([:], nil, nil, nil),
    ] as [(JSONObject, String?, String?, Int64?)])
  func thePartThatIsThereSaysWhoseNotificationItIs(
    json: JSONObject, environment: String?, bundleId: String?, appAppleId: Int64?
  ) {
    let payload = ResponseBodyV2DecodedPayload(json: json)
    #expect(payload.environment?.rawValue == environment)
    #expect(payload.bundleId == bundleId)
    #expect(payload.appAppleId == appAppleId)
  }

  @Test func anAppTransactionCallsItsEnvironmentReceiptType() {
    #expect(AppTransaction(json: ["receiptType": "Sandbox"]).environment == .sandbox)
  }
}
