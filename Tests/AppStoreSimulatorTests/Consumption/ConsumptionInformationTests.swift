import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct ConsumptionInformationTests {
  private static let v2: JSONObject = [
    "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
  ]
  private static let v1: JSONObject = [
    "customerConsented": true, "consumptionStatus": 3, "platform": 1, "sampleContentProvided": true,
    "deliveryStatus": 0, "appAccountToken": "", "accountTenure": 7, "playTime": 7, "lifetimeDollarsRefunded": 7,
    "lifetimeDollarsPurchased": 7, "userStatus": 4,
  ]

  private static func changed(_ object: JSONObject, _ changes: [(String, JSON?)]) -> JSONObject {
    changes.reduce(object) { $0.with($1.0, $1.1) }
  }

  static let v2Cases: [(changes: [(String, JSON?)], isAutoRenewable: Bool, failure: APIFailure?)] = [
    ([], false, nil), ([], true, nil),
    ([("customerConsented", false)], false, .invalidCustomerConsented),
    ([("customerConsented", nil)], false, .invalidCustomerConsented),
    ([("customerConsented", "true")], false, .invalidCustomerConsented),
    ([("sampleContentProvided", nil)], false, .invalidSampleContentProvided),
    ([("deliveryStatus", nil)], false, .invalidDeliveryStatus),
    ([("deliveryStatus", 0)], false, .invalidDeliveryStatus),
    ([("deliveryStatus", "LOST")], false, .invalidDeliveryStatus),
    ([("refundPreference", "MAYBE")], false, .invalidRefundPreference),
    ([("refundPreference", 1)], false, .invalidRefundPreference),
    ([("refundPreference", "DECLINE")], false, nil), ([("refundPreference", "GRANT_FULL")], true, nil),
    ([("consumptionPercentage", -1)], false, .consumptionPercentageOutOfRange),
    ([("consumptionPercentage", 100_001)], false, .consumptionPercentageOutOfRange),
    ([("consumptionPercentage", 0)], false, nil), ([("consumptionPercentage", 100_000)], false, nil),
    ([("consumptionPercentage", 0)], true, .consumptionPercentageAutoRenewableSubscription),
    (
      [("deliveryStatus", "UNDELIVERED_OTHER"), ("consumptionPercentage", 1)], false,
      .undeliveredConsumptionPercentageNonZero
    ),
    ([("deliveryStatus", "UNDELIVERED_OTHER"), ("consumptionPercentage", 0)], false, nil),
    ([("refundPreference", "GRANT_PRORATED")], false, .consumptionPercentageOutOfRange),
    ([("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", 0)], false, .consumptionPercentageOutOfRange),
    (
      [("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", 100_000)], false,
      .consumptionPercentageOutOfRange
    ),
    ([("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", 1)], false, nil),
    ([("refundPreference", "GRANT_PRORATED")], true, nil),
    ([("deliveryStatus", "UNDELIVERED_OTHER")], false, .undeliveredConsumptionPercentageNonZero),
    ([("deliveryStatus", "UNDELIVERED_OTHER")], true, nil),
    (
      [("deliveryStatus", "UNDELIVERED_OTHER"), ("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", 0)],
      false, .consumptionPercentageOutOfRange
    ),
  ]

  @Test(arguments: v2Cases.indices)
  func `the constraints of ConsumptionRequest`(index: Int) {
    let example = Self.v2Cases[index]
    let body = Self.changed(Self.v2, example.changes)
    let failure = failure { () throws(APIFailure) in
      _ = try ConsumptionInformation(body, of: example.isAutoRenewable ? .autoRenewableSubscription : .consumable)
    }
    #expect(failure == example.failure, "\(String(decoding: body.serialized(), as: UTF8.self))")
  }

  static let v1Mistakes: [(key: String, value: JSON?, failure: APIFailure)] = [
    ("customerConsented", false, .invalidCustomerConsented), ("consumptionStatus", 4, .invalidConsumptionStatus),
    ("consumptionStatus", nil, .invalidConsumptionStatus), ("platform", 3, .invalidPlatform),
    ("sampleContentProvided", 1, .invalidSampleContentProvided),
    ("deliveryStatus", "DELIVERED", .invalidDeliveryStatus),
    ("deliveryStatus", 6, .invalidDeliveryStatus), ("appAccountToken", nil, .invalidAppAccountToken),
    ("appAccountToken", "me", .invalidAppAccountToken), ("accountTenure", 8, .invalidAccountTenure),
    ("playTime", -1, .invalidPlayTime), ("lifetimeDollarsRefunded", 8, .invalidLifetimeDollarsRefunded),
    ("lifetimeDollarsPurchased", 8, .invalidLifetimeDollarsPurchased), ("userStatus", 5, .invalidUserStatus),
    ("refundPreference", 4, .invalidRefundPreference), ("refundPreference", "DECLINE", .invalidRefundPreference),
  ]

  @Test(arguments: v1Mistakes.indices)
  func `the ranges of ConsumptionRequestV1`(index: Int) {
    let mistake = Self.v1Mistakes[index]
    let body = Self.v1.with(mistake.key, mistake.value)
    #expect(throws: mistake.failure) { try ConsumptionInformation(v1: body) }
  }

  @Test func `version 1 uses numbers for version 2's names`() throws {
    #expect(try ConsumptionInformation(v1: Self.v1).preference == nil)
    #expect(try ConsumptionInformation(v1: Self.v1.with("refundPreference", 1)).preference == .grantFull)
    #expect(try ConsumptionInformation(v1: Self.v1.with("refundPreference", 2)).preference == .decline)
    #expect(try ConsumptionInformation(v1: Self.v1).consumed == 100_000)
  }

  private func failure(_ body: () throws(APIFailure) -> Void) -> APIFailure? {
    do throws(APIFailure) {
      try body()
      return nil
    } catch {
      return error
    }
  }
}
