import TestEnvironment
import Testing

@testable import AppStore

struct AdvancedCommerceRequestTests {
  @Test func aRequestHasItsConstantFieldsAndThePropertiesOfItsObjects() {
    var request = AdvancedCommerceSubscriptionModifyInAppRequest(
      requestInfo: AdvancedCommerceRequestInfo(json: ["requestReferenceId": "0f6e8c1a-73b5-4d0e-9a55-0123456789ab"]))
    request.transactionId = "2000000123456789"
    request.retainBillingCycle = false
    var item = AdvancedCommerceSubscriptionModifyChangeItem()
    item.currentSKU = "football"
    item.SKU = "all-sports"
    item.reason = .upgrade
    item.effective = .immediately
    request.changeItems = [item]
    #expect(
      String(decoding: request.serialized(), as: UTF8.self) == """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1","requestInfo":{"requestReferenceId":\
        "0f6e8c1a-73b5-4d0e-9a55-0123456789ab"},"transactionId":"2000000123456789","retainBillingCycle":false,\
        "changeItems":[{"currentSKU":"football","SKU":"all-sports","reason":"UPGRADE","effective":"IMMEDIATELY"}]}
        """)
  }

  @Test func unknownValuesAndFieldsInARequestSurviveAndOnlyTheValuesAreViolations() throws {
    let text = """
      {"requestInfo":{"requestReferenceId":"0f6e8c1a-73b5-4d0e-9a55-0123456789ab","new":[1.0]},"refundReason":"GIFT",\
      "refundType":"HALF","refundRiskingPreference":false,"later":null}
      """
    let request = try AdvancedCommerceSubscriptionRevokeRequest(parsing: Array(text.utf8))
    #expect(request.refundReason?.rawValue == "GIFT" && request.refundType?.isKnown == false)
    #expect(String(decoding: request.serialized(), as: UTF8.self) == text)
    #expect(request.violations().map(\.field) == ["refundReason", "refundType"])
    #expect(
      request.violations().first?.description
        == "refundReason: must be one of the documented values; found GIFT "
        + "(https://developer.apple.com/documentation/advancedcommerceapi/subscriptionrevokerequest)")
  }

  @Test(
    .enabled(if: SharedMaterial.isPresent, "needs Apple's list of fields next to the checkout"),
    arguments: Model.advancedCommerceRequests
  )
  func requiredAndConstantFieldsAreThoseOfTheListOfApplesFields(model: Model) throws {
    func check<Object: AppStoreObject>(_: Object.Type) throws {
      let models = try SharedMaterial.json("app-store-facts/models.json")["models"]
      guard case .object(let all) = models, case .object(let listed) = all["\(Object.self)"],
        case .array(let fields) = listed["fields"]
      else {
        Issue.record("no list for \(Object.self)")
        return
      }
      for case .object(let field) in fields {
        let name = try #require(field["name"].flatMap { String(jsonValue: $0) })
        let ours = try #require(Object.documentedFields.first { $0.name == name })
        #expect(ours.rules.contains(.required) == (field["required"] == true), "\(name)")
        #expect(ours.constant == field["const"].flatMap { String(jsonValue: $0) }, "\(name)")
      }
    }
    try check(model.type)
  }
}
