// The constraints on requests of the Advanced Commerce API.

import AppStore

extension RequestViolationTests {
  private static func info(_ reference: String?) -> AdvancedCommerceRequestInfo {
    var info = AdvancedCommerceRequestInfo()
    info.requestReferenceId = reference
    return info
  }

  /// A request in which every text and number is as large as allowed.
  static var subscription: AdvancedCommerceSubscriptionCreateRequest {
    var request = AdvancedCommerceSubscriptionCreateRequest(requestInfo: info(uuid))
    request.currency = "USD"
    request.taxCode = "S021"
    request.period = .oneMonth
    request.descriptors = AdvancedCommerceDescriptors(
      json: ["description": .string(text("d", 45)), "displayName": .string(text("é", 30))])
    var item = AdvancedCommerceSubscriptionCreateItem(
      json: ["SKU": .string(text("s", 128)), "description": "Every match", "displayName": "Football", "price": 4_990])
    item.offer = AdvancedCommerceOffer(
      json: ["period": "P1W", "periodCount": 12, "price": 0, "reason": "ACQUISITION"])
    request.items = [item]
    return request
  }

  private static func text(_ character: Character, _ count: Int) -> String {
    String(repeating: character, count: count)
  }

  private static func create(
    _ change: (inout AdvancedCommerceSubscriptionCreateRequest) -> Void
  ) -> [RequestViolation] {
    var request = subscription
    change(&request)
    return request.violations()
  }

  private static func modify(
    _ change: (inout AdvancedCommerceSubscriptionModifyInAppRequest) -> Void
  ) -> [RequestViolation] {
    var request = AdvancedCommerceSubscriptionModifyInAppRequest(requestInfo: info(uuid))
    request.transactionId = "2000000123456789"
    request.retainBillingCycle = true
    change(&request)
    return request.violations()
  }

  private static func price(dependent SKUs: [String]) -> [RequestViolation] {
    var item = AdvancedCommerceSubscriptionPriceChangeItem(json: ["SKU": "a", "price": 5_990])
    item.dependentSKUs = SKUs
    var request = AdvancedCommerceSubscriptionPriceChangeRequest(requestInfo: info(uuid))
    request.items = [item]
    return request.violations()
  }

  static let advancedCommerce = [
    ConstraintCase("a complete subscription", create { _ in }),
    ConstraintCase(
      "a description of 46", create { $0.descriptors?.description = text("d", 46) },
      breaks: ("descriptors.description", .descriptionLength)),
    ConstraintCase(
      "a name of 31", create { $0.descriptors?.displayName = text("é", 31) },
      breaks: ("descriptors.displayName", .displayNameLength)),
    ConstraintCase(
      "an item's identifier of 129", create { $0.items?[0].SKU = text("s", 129) },
      breaks: ("items[0].SKU", .skuLength)),
    ConstraintCase(
      "an item without a price", create { $0.items?.append(AdvancedCommerceSubscriptionCreateItem()) },
      breaks: ("items[1].SKU", .required), ("items[1].description", .required), ("items[1].displayName", .required),
      ("items[1].price", .required)),
    ConstraintCase(
      "13 periods", create { $0.items?[0].offer?.periodCount = 13 },
      breaks: ("items[0].offer.periodCount", .periodCountRange)),
    ConstraintCase(
      "0 periods", create { $0.items?[0].offer?.periodCount = 0 },
      breaks: ("items[0].offer.periodCount", .periodCountRange)),
    ConstraintCase(
      "an unknown reason for an offer",
      create { $0.items?[0].offer?.reason = AdvancedCommerceOfferReason(rawValue: "BIRTHDAY") },
      breaks: ("items[0].offer.reason", .documentedValue)),
    ConstraintCase(
      "an unknown period", create { $0.period = AdvancedCommercePeriod(rawValue: "P2Y") },
      breaks: ("period", .documentedValue)),
    ConstraintCase("no items", create { $0.items = [] }, breaks: ("items", .notEmpty)),
    ConstraintCase("null items", create { $0.json["items"] = .null }, breaks: ("items", .documentedType)),
    ConstraintCase(
      "an item's price as text", create { $0.items?[0].json["price"] = "4990" },
      breaks: ("items[0].price", .documentedType)),
    ConstraintCase(
      "another operation", create { $0.operation = "MODIFY_SUBSCRIPTION" }, breaks: ("operation", .documentedValue)),
    ConstraintCase("another version", create { $0.version = "2" }, breaks: ("version", .documentedValue)),
    ConstraintCase(
      "a reference that is no UUID", create { $0.requestInfo = info("order-7") },
      breaks: ("requestInfo.requestReferenceId", .uuid)),
    ConstraintCase(
      "no reference", create { $0.requestInfo = info(nil) }, breaks: ("requestInfo.requestReferenceId", .required)),
    ConstraintCase(
      "an empty account", create { $0.requestInfo?.appAccountToken = "" },
      breaks: ("requestInfo.appAccountToken", .uuid)),
    ConstraintCase("a change of nothing", modify { _ in }),
    ConstraintCase("no items to add", modify { $0.addItems = [] }, breaks: ("addItems", .notEmpty)),
    ConstraintCase(
      "an unknown time", modify { $0.periodChange = .init(json: ["period": "P1Y", "effective": "LATER"]) },
      breaks: ("periodChange.effective", .documentedValue)),
    ConstraintCase("dependent items of 128", price(dependent: ["b", text("c", 128)])),
    ConstraintCase(
      "a dependent item of 129", price(dependent: ["b", text("c", 129)]),
      breaks: ("items[0].dependentSKUs[1]", .skuLength)),
    ConstraintCase(
      "no refund at all", AdvancedCommerceRequestRefundRequest().violations(), breaks: ("requestInfo", .required),
      ("items", .required), ("refundRiskingPreference", .required)),
  ]
}
