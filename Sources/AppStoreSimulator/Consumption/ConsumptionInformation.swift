// A team's response to a CONSUMPTION_REQUEST, in either version of the body.

internal import AppStore

/// The consumption information about a purchase.
struct ConsumptionInformation: Sendable, Hashable {
  enum Preference: Sendable, Hashable {
    case decline
    case grantFull
    case grantProrated
  }

  let preference: Preference?
  /// The consumed share in milliunits; nil if the caller did not state it.
  let consumed: Int64?
  let isDelivered: Bool

  static let everything: Int64 = 100_000

  /// Reads a V2 body.
  ///
  /// - Parameter type: the type of the purchased product.
  /// - Throws: Apple's error for the first invalid member.
  init(_ body: JSONObject, of type: ProductType) throws(APIFailure) {
    let request = ConsumptionRequest(json: body)
    try APIFailure.check(request.violations(productType: type), Self.failures)
    isDelivered = request.deliveryStatus == .delivered
    consumed = request.consumptionPercentage.map { Int64($0) }
    preference =
      switch request.refundPreference {
      case .decline?: .decline
      case .grantFull?: .grantFull
      case .grantProrated?: .grantProrated
      default: nil
      }
  }

  /// Reads a V1 body.
  ///
  /// - Throws: Apple's error for the first invalid member.
  init(v1 body: JSONObject) throws(APIFailure) {
    let request = ConsumptionRequestV1(json: body)
    try APIFailure.check(request.violations(), Self.failuresV1)
    isDelivered = body["deliveryStatus"] == 0
    consumed =
      switch body["consumptionStatus"] {
      case 1: 0
      case 3: Self.everything
      default: nil
      }
    preference =
      switch body["refundPreference"] {
      case 1: .grantFull
      case 2: .decline
      default: nil
      }
  }

  private static let failures: [FieldFailure] = [
    FieldFailure("customerConsented", .invalidCustomerConsented),
    FieldFailure("sampleContentProvided", .invalidSampleContentProvided),
    FieldFailure("deliveryStatus", .invalidDeliveryStatus), FieldFailure("refundPreference", .invalidRefundPreference),
    FieldFailure(
      "consumptionPercentage", .consumptionPercentageOutOfRange,
      [
        .consumptionPercentageOfSubscription: .consumptionPercentageAutoRenewableSubscription,
        .consumptionPercentageUndelivered: .undeliveredConsumptionPercentageNonZero,
      ]),
  ]

  private static let failuresV1: [FieldFailure] = [
    FieldFailure("customerConsented", .invalidCustomerConsented),
    FieldFailure("consumptionStatus", .invalidConsumptionStatus), FieldFailure("platform", .invalidPlatform),
    FieldFailure("sampleContentProvided", .invalidSampleContentProvided),
    FieldFailure("deliveryStatus", .invalidDeliveryStatus), FieldFailure("appAccountToken", .invalidAppAccountToken),
    FieldFailure("accountTenure", .invalidAccountTenure), FieldFailure("playTime", .invalidPlayTime),
    FieldFailure("lifetimeDollarsRefunded", .invalidLifetimeDollarsRefunded),
    FieldFailure("lifetimeDollarsPurchased", .invalidLifetimeDollarsPurchased),
    FieldFailure("userStatus", .invalidUserStatus), FieldFailure("refundPreference", .invalidRefundPreference),
  ]
}
