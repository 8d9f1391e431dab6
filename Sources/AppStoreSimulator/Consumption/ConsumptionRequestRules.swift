// The body of Send Consumption Information, checked against the constraints of ConsumptionRequest.

internal import AppStore

/// What a caller says about a purchase whose refund was asked for.
struct ConsumptionAnswer: Sendable, Hashable {
  enum Preference: Sendable, Hashable {
    case decline
    case grantFull
    case grantProrated
  }

  let preference: Preference?
  /// Milliunits of the purchase that were consumed; nil when not said.
  let consumed: Int64?
  let isDelivered: Bool

  private static let deliveryStatuses: Set<String> = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
    "UNDELIVERED_OTHER",
  ]
  static let everything: Int64 = 100_000

  /// Reads a V2 body.
  /// - Parameter isAutoRenewable: whether the purchase is an auto-renewable subscription.
  init(_ body: JSONObject, isAutoRenewable: Bool) throws(APIFailure) {
    guard body["customerConsented"] == true else { throw .invalidCustomerConsented }
    guard case .bool = body["sampleContentProvided"] else { throw .invalidSampleContentProvided }
    guard case .string(let delivery) = body["deliveryStatus"], Self.deliveryStatuses.contains(delivery) else {
      throw .invalidDeliveryStatus
    }
    isDelivered = delivery == "DELIVERED"
    switch body["refundPreference"] {
    case nil: preference = nil
    case "DECLINE": preference = .decline
    case "GRANT_FULL": preference = .grantFull
    case "GRANT_PRORATED": preference = .grantProrated
    default: throw .invalidRefundPreference
    }
    consumed = try Self.consumed(
      body["consumptionPercentage"], isDelivered: isDelivered, isAutoRenewable: isAutoRenewable)
    if preference == .grantProrated, !isAutoRenewable, isDelivered {
      guard let consumed, consumed > 0, consumed < Self.everything else { throw .consumptionPercentageOutOfRange }
    }
  }

  private static func consumed(
    _ value: JSON?, isDelivered: Bool, isAutoRenewable: Bool
  ) throws(APIFailure) -> Int64? {
    guard let value else { return nil }
    if isAutoRenewable { throw .consumptionPercentageAutoRenewableSubscription }
    guard case .integer(let percentage) = value, (0...everything).contains(percentage) else {
      throw .consumptionPercentageOutOfRange
    }
    if !isDelivered, percentage != 0 { throw .undeliveredConsumptionPercentageNonZero }
    return percentage
  }

  /// Reads a V1 body: every member but `refundPreference` is required and has its range.
  init(v1 body: JSONObject) throws(APIFailure) {
    guard body["customerConsented"] == true else { throw .invalidCustomerConsented }
    let status = try Self.number(body, "consumptionStatus", 0...3, .invalidConsumptionStatus)
    _ = try Self.number(body, "platform", 0...2, .invalidPlatform)
    guard case .bool = body["sampleContentProvided"] else { throw .invalidSampleContentProvided }
    isDelivered = try Self.number(body, "deliveryStatus", 0...5, .invalidDeliveryStatus) == 0
    guard case .string(let token) = body["appAccountToken"], token.isEmpty || UUIDText.isUUID(token) else {
      throw .invalidAppAccountToken
    }
    _ = try Self.number(body, "accountTenure", 0...7, .invalidAccountTenure)
    _ = try Self.number(body, "playTime", 0...7, .invalidPlayTime)
    _ = try Self.number(body, "lifetimeDollarsRefunded", 0...7, .invalidLifetimeDollarsRefunded)
    _ = try Self.number(body, "lifetimeDollarsPurchased", 0...7, .invalidLifetimeDollarsPurchased)
    _ = try Self.number(body, "userStatus", 0...4, .invalidUserStatus)
    let wish =
      body["refundPreference"] == nil
      ? 0 : try Self.number(body, "refundPreference", 0...3, .invalidRefundPreference)
    preference = wish == 1 ? .grantFull : wish == 2 ? .decline : nil
    consumed = status == 1 ? 0 : status == 3 ? Self.everything : nil
  }

  private static func number(
    _ body: JSONObject, _ name: String, _ range: ClosedRange<Int64>, _ failure: APIFailure
  ) throws(APIFailure) -> Int64 {
    guard case .integer(let number) = body[name], range.contains(number) else { throw failure }
    return number
  }
}
