// Table tests of every documented constraint: values that break it, values that just keep it, and Apple's page.

import AppStore
import Foundation
import TestEnvironment
import Testing

/// A request and the constraints that it breaks, as `field rule`.
struct ConstraintCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let found: [RequestViolation]
  let expected: [String]

  init(_ name: String, _ found: [RequestViolation], breaks expected: (String, RequestRule)...) {
    testDescription = name
    self.found = found
    self.expected = expected.map { "\($0.0) \($0.1)" }
  }
}

struct RequestViolationTests {
  /// The constraints of the App Store Server API.
  static let serverAPI = extensions + consumption + consumptionV1 + notificationHistory + queries + parameters
  static let all = serverAPI + advancedCommerce

  @Test(arguments: all)
  func aRequestBreaksExactlyTheseConstraints(request: ConstraintCase) {
    #expect(request.found.map { "\($0.field) \($0.rule)" } == request.expected)
  }

  @Test func everyRuleIsBrokenByACaseOfTheTable() {
    #expect(Set(Self.all.flatMap(\.found).map(\.rule)) == Set(RequestRule.allCases))
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "needs Apple's documentation next to the checkout"))
  func everyViolationNamesAPageOfApplesDocumentation() throws {
    let text = try SharedMaterial.text("app-store-docs/server-api.md")
    let pages = Set(text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3).lowercased() })
    #expect(pages.count > 200)
    for violation in Self.serverAPI.flatMap(\.found) {
      #expect(pages.contains(violation.topic.lowercased()), "\(violation)")
    }
  }

  @Test func aViolationSaysFieldRuleFindingAndPageInOneLine() {
    let violation = ExtendRenewalDateRequest(extendByDays: 91, extendReasonCode: .other, requestIdentifier: "a")
      .violations().first
    #expect(
      violation?.description
        == "extendByDays: must be from 1 to 90 days; found 91 "
        + "(https://developer.apple.com/documentation/appstoreserverapi/extendbydays)")
  }

  @Test func noIdentifierIsRepeatedInAViolation() {
    let secret = "not-for-any-log"
    var request = ConsumptionRequestV1(
      customerConsented: true, sampleContentProvided: false, deliveryStatus: .deliveredAndWorkingProperly)
    request.appAccountToken = secret
    let found =
      request.violations() + UpdateAppAccountTokenRequest(appAccountToken: secret).violations()
      + RequestParameter.transactionId.violations(in: secret + "/")
      + RequestParameter.orderId.violations(in: secret + "/")
    #expect(found.count == 4)
    #expect(found.allSatisfy { !$0.description.contains(secret) })
  }

  static let uuid = "0F6E8C1A-73b5-4d0e-9a55-0123456789ab"

  static func extend(_ change: (inout ExtendRenewalDateRequest) -> Void) -> [RequestViolation] {
    var request = ExtendRenewalDateRequest(
      extendByDays: 90, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign-7/400001")
    change(&request)
    return request.violations()
  }

  static func mass(_ change: (inout MassExtendRenewalDateRequest) -> Void) -> [RequestViolation] {
    var request = MassExtendRenewalDateRequest(
      extendByDays: 1, extendReasonCode: .undeclared, requestIdentifier: uuid, productId: "com.example.monthly")
    change(&request)
    return request.violations()
  }

  static let extensions = [
    ConstraintCase("a complete extension", extend { _ in }),
    ConstraintCase("days 1", extend { $0.extendByDays = 1 }),
    ConstraintCase("days 0", extend { $0.extendByDays = 0 }, breaks: ("extendByDays", .extendByDaysRange)),
    ConstraintCase("days 91", extend { $0.extendByDays = 91 }, breaks: ("extendByDays", .extendByDaysRange)),
    ConstraintCase("days as text", extend { $0.json["extendByDays"] = "5" }, breaks: ("extendByDays", .documentedType)),
    ConstraintCase(
      "reason 4", extend { $0.extendReasonCode = ExtendReasonCode(rawValue: 4) },
      breaks: ("extendReasonCode", .documentedValue)),
    ConstraintCase("no reason", extend { $0.extendReasonCode = nil }, breaks: ("extendReasonCode", .required)),
    ConstraintCase(
      "identifier of 128", extend { $0.requestIdentifier = String(repeating: "é", count: 128) }),
    ConstraintCase(
      "identifier of 129", extend { $0.requestIdentifier = String(repeating: "x", count: 129) },
      breaks: ("requestIdentifier", .requestIdentifierLength)),
    ConstraintCase(
      "empty identifier", extend { $0.requestIdentifier = "" },
      breaks: ("requestIdentifier", .requestIdentifierLength)),
    ConstraintCase(
      "nothing at all", ExtendRenewalDateRequest().violations(), breaks: ("extendByDays", .required),
      ("extendReasonCode", .required), ("requestIdentifier", .required)),
    ConstraintCase("a complete mass extension", mass { _ in }),
    ConstraintCase("two storefronts", mass { $0.storefrontCountryCodes = ["USA", "DEU"] }),
    ConstraintCase(
      "no storefront", mass { $0.storefrontCountryCodes = [] },
      breaks: ("storefrontCountryCodes", .storefrontsNotEmpty)),
    ConstraintCase(
      "storefronts of two letters and small", mass { $0.storefrontCountryCodes = ["US", "USA", "deu"] },
      breaks: ("storefrontCountryCodes", .storefrontAlpha3), ("storefrontCountryCodes", .storefrontAlpha3)),
    ConstraintCase(
      "a storefront that is a number", mass { $0.json["storefrontCountryCodes"] = [1] },
      breaks: ("storefrontCountryCodes[0]", .documentedType)),
    ConstraintCase(
      "identifier no UUID", mass { $0.requestIdentifier = "campaign-7" }, breaks: ("requestIdentifier", .uuid)),
    ConstraintCase(
      "identifier almost a UUID", mass { $0.requestIdentifier = uuid.replacing("-", with: "0") },
      breaks: ("requestIdentifier", .uuid)),
    ConstraintCase("empty product", mass { $0.productId = "" }, breaks: ("productId", .notEmpty)),
    ConstraintCase("an account", UpdateAppAccountTokenRequest(appAccountToken: uuid).violations()),
    ConstraintCase(
      "an empty account", UpdateAppAccountTokenRequest(appAccountToken: "").violations(),
      breaks: ("appAccountToken", .uuid)),
  ]

  static func consume(
    _ type: ProductType?, _ percentage: Int? = nil, _ delivery: DeliveryStatus = .delivered,
    _ preference: RefundPreference? = nil, _ change: (inout ConsumptionRequest) -> Void = { _ in }
  ) -> [RequestViolation] {
    var request = ConsumptionRequest(
      customerConsented: true, sampleContentProvided: false, deliveryStatus: delivery,
      consumptionPercentage: percentage, refundPreference: preference)
    change(&request)
    return request.violations(productType: type)
  }

  static let consumption = [
    ConstraintCase("delivered consumable", consume(.consumable)),
    ConstraintCase("all of it", consume(.consumable, 100_000, .delivered, .decline)),
    ConstraintCase(
      "more than all", consume(.consumable, 100_001), breaks: ("consumptionPercentage", .consumptionPercentageRange)),
    ConstraintCase("less than none", consume(nil, -1), breaks: ("consumptionPercentage", .consumptionPercentageRange)),
    ConstraintCase(
      "percentage of a subscription", consume(.autoRenewableSubscription, 0),
      breaks: ("consumptionPercentage", .consumptionPercentageOfSubscription)),
    ConstraintCase(
      "undelivered subscription, prorated",
      consume(.autoRenewableSubscription, nil, .undeliveredOther, .grantProrated)),
    ConstraintCase("undelivered with 0", consume(.nonConsumable, 0, .undeliveredWrongItem, .grantFull)),
    ConstraintCase(
      "undelivered with 1", consume(nil, 1, .undeliveredServerOutage),
      breaks: ("consumptionPercentage", .consumptionPercentageUndelivered)),
    ConstraintCase(
      "undelivered without", consume(.consumable, nil, .undeliveredQualityIssue),
      breaks: ("consumptionPercentage", .consumptionPercentageUndelivered)),
    ConstraintCase("undelivered without, type unknown", consume(nil, nil, .undeliveredQualityIssue)),
    ConstraintCase("prorated", consume(.nonRenewingSubscription, 50_000, .delivered, .grantProrated)),
    ConstraintCase(
      "prorated with 0", consume(.consumable, 0, .delivered, .grantProrated),
      breaks: ("consumptionPercentage", .consumptionPercentageProrated)),
    ConstraintCase(
      "prorated with all", consume(nil, 100_000, .delivered, .grantProrated),
      breaks: ("consumptionPercentage", .consumptionPercentageProrated)),
    ConstraintCase(
      "prorated without", consume(.consumable, nil, .delivered, .grantProrated),
      breaks: ("consumptionPercentage", .consumptionPercentageProrated)),
    ConstraintCase("prorated without, type unknown", consume(nil, nil, .delivered, .grantProrated)),
    ConstraintCase(
      "no consent", consume(nil) { $0.customerConsented = false }, breaks: ("customerConsented", .consent)),
    ConstraintCase(
      "consent as text", consume(nil) { $0.json["customerConsented"] = "true" },
      breaks: ("customerConsented", .documentedType)),
    ConstraintCase(
      "values of version 1", consume(nil) { $0.deliveryStatus = DeliveryStatus(rawValue: "0") },
      breaks: ("deliveryStatus", .documentedValue)),
    ConstraintCase(
      "an unknown preference", consume(nil, nil, .delivered, RefundPreference(rawValue: "GRANT")),
      breaks: ("refundPreference", .documentedValue)),
    ConstraintCase(
      "nothing at all", ConsumptionRequest().violations(productType: nil), breaks: ("customerConsented", .required),
      ("deliveryStatus", .required), ("sampleContentProvided", .required)),
  ]

  static func consumeV1(_ change: (inout ConsumptionRequestV1) -> Void) -> [RequestViolation] {
    var request = ConsumptionRequestV1(
      customerConsented: true, sampleContentProvided: true, deliveryStatus: .deliveredWrongItem)
    change(&request)
    return request.violations()
  }

  static let consumptionV1 = [
    ConstraintCase("nothing declared", consumeV1 { _ in }),
    ConstraintCase("an account", consumeV1 { $0.appAccountToken = uuid }),
    ConstraintCase(
      "no account", consumeV1 { $0.appAccountToken = "none" }, breaks: ("appAccountToken", .uuidOrEmpty)),
    ConstraintCase("no consent", consumeV1 { $0.customerConsented = false }, breaks: ("customerConsented", .consent)),
    ConstraintCase("no preference", consumeV1 { $0.refundPreference = nil }),
    ConstraintCase("no play time", consumeV1 { $0.playTime = nil }, breaks: ("playTime", .required)),
    ConstraintCase(
      "one above every range",
      consumeV1 {
        $0.consumptionStatus = ConsumptionStatus(rawValue: 4)
        $0.platform = Platform(rawValue: 3)
        $0.deliveryStatus = DeliveryStatusV1(rawValue: 6)
        $0.accountTenure = AccountTenure(rawValue: 8)
        $0.playTime = PlayTime(rawValue: 8)
        $0.lifetimeDollarsRefunded = LifetimeDollarsRefunded(rawValue: 8)
        $0.lifetimeDollarsPurchased = LifetimeDollarsPurchased(rawValue: 8)
        $0.userStatus = UserStatus(rawValue: 5)
        $0.refundPreference = RefundPreferenceV1(rawValue: 4)
      },
      breaks: ("consumptionStatus", .documentedValue), ("platform", .documentedValue),
      ("deliveryStatus", .documentedValue), ("accountTenure", .documentedValue), ("playTime", .documentedValue),
      ("lifetimeDollarsRefunded", .documentedValue), ("lifetimeDollarsPurchased", .documentedValue),
      ("userStatus", .documentedValue), ("refundPreference", .documentedValue)),
  ]
}
