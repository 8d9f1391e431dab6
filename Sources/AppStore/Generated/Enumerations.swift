// Written from Sources/AppStore/Fields/Enumerations.md by `scripts/check types --write`.

/// The age of the customer's account (App Store Server API, `accountTenure`; Send Consumption Information V1).
public struct AccountTenure: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = AccountTenure(rawValue: 0)
  /// 0 to 3 days.
  public static let zeroToThreeDays = AccountTenure(rawValue: 1)
  /// 3 to 10 days.
  public static let threeDaysToTenDays = AccountTenure(rawValue: 2)
  /// 10 to 30 days.
  public static let tenDaysToThirtyDays = AccountTenure(rawValue: 3)
  /// 30 to 90 days.
  public static let thirtyDaysToNinetyDays = AccountTenure(rawValue: 4)
  /// 90 to 180 days.
  public static let ninetyDaysToOneHundredEightyDays = AccountTenure(rawValue: 5)
  /// 180 to 365 days.
  public static let oneHundredEightyDaysToThreeHundredSixtyFiveDays = AccountTenure(rawValue: 6)
  /// More than 365 days.
  public static let greaterThanThreeHundredSixtyFiveDays = AccountTenure(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [AccountTenure] = [
    .undeclared, .zeroToThreeDays, .threeDaysToTenDays, .tenDaysToThirtyDays, .thirtyDaysToNinetyDays,
    .ninetyDaysToOneHundredEightyDays, .oneHundredEightyDaysToThreeHundredSixtyFiveDays,
    .greaterThanThreeHundredSixtyFiveDays,
  ]
}

/// The extent to which the customer consumed the purchase (App Store Server API, `consumptionStatus`; Send Consumption
/// Information V1).
public struct ConsumptionStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = ConsumptionStatus(rawValue: 0)
  /// Not consumed.
  public static let notConsumed = ConsumptionStatus(rawValue: 1)
  /// Partially consumed.
  public static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
  /// Fully consumed.
  public static let fullyConsumed = ConsumptionStatus(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [ConsumptionStatus] = [
    .undeclared, .notConsumed, .partiallyConsumed, .fullyConsumed,
  ]
}

/// Whether a purchase was delivered and works (App Store Server API, `deliveryStatus`; Send Consumption Information).
public struct DeliveryStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Delivered and working properly.
  public static let delivered = DeliveryStatus(rawValue: "DELIVERED")
  /// Not delivered because of a quality issue.
  public static let undeliveredQualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
  /// Not delivered: the customer received the wrong item.
  public static let undeliveredWrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
  /// Not delivered because of a server outage.
  public static let undeliveredServerOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
  /// Not delivered for another reason.
  public static let undeliveredOther = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")

  /// The values that Apple documents.
  public static let allKnown: [DeliveryStatus] = [
    .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage, .undeliveredOther,
  ]
}

/// Whether a purchase was delivered and works (App Store Server API, `deliveryStatusV1`; Send Consumption Information
/// V1).
public struct DeliveryStatusV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Delivered and working properly.
  public static let deliveredAndWorkingProperly = DeliveryStatusV1(rawValue: 0)
  /// Not delivered because of a quality issue.
  public static let didNotDeliverDueToQualityIssue = DeliveryStatusV1(rawValue: 1)
  /// The wrong item was delivered.
  public static let deliveredWrongItem = DeliveryStatusV1(rawValue: 2)
  /// Not delivered because of a server outage.
  public static let didNotDeliverDueToServerOutage = DeliveryStatusV1(rawValue: 3)
  /// Not delivered because of a change of the in-game currency.
  public static let didNotDeliverDueToIngameCurrencyChange = DeliveryStatusV1(rawValue: 4)
  /// Not delivered for another reason.
  public static let didNotDeliverForOtherReason = DeliveryStatusV1(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [DeliveryStatusV1] = [
    .deliveredAndWorkingProperly, .didNotDeliverDueToQualityIssue, .deliveredWrongItem, .didNotDeliverDueToServerOutage,
    .didNotDeliverDueToIngameCurrencyChange, .didNotDeliverForOtherReason,
  ]
}

/// The reason for an extension of a renewal date (App Store Server API, `extendReasonCode`).
public struct ExtendReasonCode: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = ExtendReasonCode(rawValue: 0)
  /// Customer satisfaction.
  public static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
  /// Another reason.
  public static let other = ExtendReasonCode(rawValue: 2)
  /// A service issue or outage.
  public static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [ExtendReasonCode] = [
    .undeclared, .customerSatisfaction, .other, .serviceIssueOrOutage,
  ]
}

/// The total of the customer's purchases in the app on all platforms (App Store Server API, `lifetimeDollarsPurchased`;
/// Send Consumption Information V1).
public struct LifetimeDollarsPurchased: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = LifetimeDollarsPurchased(rawValue: 0)
  /// 0 USD.
  public static let zeroDollars = LifetimeDollarsPurchased(rawValue: 1)
  /// 0.01 to 49.99 USD.
  public static let oneCentToFortyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(rawValue: 2)
  /// 50 to 99.99 USD.
  public static let fiftyDollarsToNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(rawValue: 3)
  /// 100 to 499.99 USD.
  public static let oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsPurchased(rawValue: 4)
  /// 500 to 999.99 USD.
  public static let fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsPurchased(rawValue: 5)
  /// 1000 to 1999.99 USD.
  public static let oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsPurchased(rawValue: 6)
  /// 2000 USD or more.
  public static let twoThousandDollarsOrGreater = LifetimeDollarsPurchased(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [LifetimeDollarsPurchased] = [
    .undeclared, .zeroDollars, .oneCentToFortyNineDollarsAndNinetyNineCents,
    .fiftyDollarsToNinetyNineDollarsAndNinetyNineCents,
    .oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents,
    .fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents,
    .oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents, .twoThousandDollarsOrGreater,
  ]
}

/// The total of the customer's refunds in the app on all platforms (App Store Server API, `lifetimeDollarsRefunded`;
/// Send Consumption Information V1).
public struct LifetimeDollarsRefunded: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = LifetimeDollarsRefunded(rawValue: 0)
  /// 0 USD.
  public static let zeroDollars = LifetimeDollarsRefunded(rawValue: 1)
  /// 0.01 to 49.99 USD.
  public static let oneCentToFortyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(rawValue: 2)
  /// 50 to 99.99 USD.
  public static let fiftyDollarsToNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(rawValue: 3)
  /// 100 to 499.99 USD.
  public static let oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsRefunded(rawValue: 4)
  /// 500 to 999.99 USD.
  public static let fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsRefunded(rawValue: 5)
  /// 1000 to 1999.99 USD.
  public static let oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsRefunded(rawValue: 6)
  /// 2000 USD or more.
  public static let twoThousandDollarsOrGreater = LifetimeDollarsRefunded(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [LifetimeDollarsRefunded] = [
    .undeclared, .zeroDollars, .oneCentToFortyNineDollarsAndNinetyNineCents,
    .fiftyDollarsToNinetyNineDollarsAndNinetyNineCents,
    .oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents,
    .fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents,
    .oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents, .twoThousandDollarsOrGreater,
  ]
}

/// The result of an order lookup (App Store Server API, `OrderLookupStatus`).
public struct OrderLookupStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The order belongs to this app; the response contains its transactions.
  public static let valid = OrderLookupStatus(rawValue: 0)
  /// There is no such order, or it does not belong to this app.
  public static let invalid = OrderLookupStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [OrderLookupStatus] = [
    .valid, .invalid,
  ]
}

/// The platform on which the customer consumed the purchase (App Store Server API, `platform`; Send Consumption
/// Information V1).
public struct Platform: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = Platform(rawValue: 0)
  /// An Apple platform.
  public static let apple = Platform(rawValue: 1)
  /// Another platform.
  public static let nonApple = Platform(rawValue: 2)

  /// The values that Apple documents.
  public static let allKnown: [Platform] = [
    .undeclared, .apple, .nonApple,
  ]
}

/// The time for which the customer used the app (App Store Server API, `playTime`; Send Consumption Information V1).
public struct PlayTime: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = PlayTime(rawValue: 0)
  /// 0 to 5 minutes.
  public static let zeroToFiveMinutes = PlayTime(rawValue: 1)
  /// 5 to 60 minutes.
  public static let fiveToSixtyMinutes = PlayTime(rawValue: 2)
  /// 1 to 6 hours.
  public static let oneToSixHours = PlayTime(rawValue: 3)
  /// 6 to 24 hours.
  public static let sixHoursToTwentyFourHours = PlayTime(rawValue: 4)
  /// 1 to 4 days.
  public static let oneDayToFourDays = PlayTime(rawValue: 5)
  /// 4 to 16 days.
  public static let fourDaysToSixteenDays = PlayTime(rawValue: 6)
  /// More than 16 days.
  public static let overSixteenDays = PlayTime(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [PlayTime] = [
    .undeclared, .zeroToFiveMinutes, .fiveToSixtyMinutes, .oneToSixHours, .sixHoursToTwentyFourHours, .oneDayToFourDays,
    .fourDaysToSixteenDays, .overSixteenDays,
  ]
}

/// The team's preferred refund decision (App Store Server API, `refundPreference`; Send Consumption Information). It is
/// one of several factors in the decision.
public struct RefundPreference: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// No refund.
  public static let decline = RefundPreference(rawValue: "DECLINE")
  /// A full refund.
  public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
  /// A refund of the part that was not consumed.
  public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

  /// The values that Apple documents.
  public static let allKnown: [RefundPreference] = [
    .decline, .grantFull, .grantProrated,
  ]
}

/// The team's preferred refund decision (App Store Server API, `refundPreferenceV1`; Send Consumption Information V1).
public struct RefundPreferenceV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = RefundPreferenceV1(rawValue: 0)
  /// A refund.
  public static let preferGrant = RefundPreferenceV1(rawValue: 1)
  /// No refund.
  public static let preferDecline = RefundPreferenceV1(rawValue: 2)
  /// No preference.
  public static let noPreference = RefundPreferenceV1(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [RefundPreferenceV1] = [
    .undeclared, .preferGrant, .preferDecline, .noPreference,
  ]
}

/// The result of one attempt by the App Store to post a notification (App Store Server API, `sendAttemptResult`).
public struct SendAttemptResult: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The server responded with a status from 200 to 206.
  public static let success = SendAttemptResult(rawValue: "SUCCESS")
  /// The server did not respond in time.
  public static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
  /// The TLS handshake or the certificate failed.
  public static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
  /// The server redirected in a circle.
  public static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
  /// The server did not respond.
  public static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
  /// The connection failed.
  public static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
  /// The response used a character set that the App Store does not support.
  public static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
  /// The response was invalid.
  public static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
  /// The connection closed before the response was complete.
  public static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
  /// The server responded with a status outside 200 to 206.
  public static let unsuccessfulHTTPResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
  /// Another failure.
  public static let other = SendAttemptResult(rawValue: "OTHER")

  /// The values that Apple documents.
  public static let allKnown: [SendAttemptResult] = [
    .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset, .invalidResponse,
    .prematureClose, .unsuccessfulHTTPResponseCode, .other,
  ]
}

/// The status of the customer's account (App Store Server API, `userStatus`; Send Consumption Information V1).
public struct UserStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = UserStatus(rawValue: 0)
  /// Active.
  public static let active = UserStatus(rawValue: 1)
  /// Suspended.
  public static let suspended = UserStatus(rawValue: 2)
  /// Terminated.
  public static let terminated = UserStatus(rawValue: 3)
  /// Limited access.
  public static let limitedAccess = UserStatus(rawValue: 4)

  /// The values that Apple documents.
  public static let allKnown: [UserStatus] = [
    .undeclared, .active, .suspended, .terminated, .limitedAccess,
  ]
}

/// The time at which a change of a subscription takes effect (Advanced Commerce API, `effective`).
public struct AdvancedCommerceEffective: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// At once.
  public static let immediately = AdvancedCommerceEffective(rawValue: "IMMEDIATELY")
  /// With the next billing cycle.
  public static let nextBillCycle = AdvancedCommerceEffective(rawValue: "NEXT_BILL_CYCLE")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceEffective] = [
    .immediately, .nextBillCycle,
  ]
}

/// The length of a period of an offer, ISO 8601 (Advanced Commerce API, `period` of an offer).
public struct AdvancedCommerceOfferPeriod: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Three days.
  public static let threeDays = AdvancedCommerceOfferPeriod(rawValue: "P3D")
  /// One week.
  public static let oneWeek = AdvancedCommerceOfferPeriod(rawValue: "P1W")
  /// Two weeks.
  public static let twoWeeks = AdvancedCommerceOfferPeriod(rawValue: "P2W")
  /// One month.
  public static let oneMonth = AdvancedCommerceOfferPeriod(rawValue: "P1M")
  /// Two months.
  public static let twoMonths = AdvancedCommerceOfferPeriod(rawValue: "P2M")
  /// Three months.
  public static let threeMonths = AdvancedCommerceOfferPeriod(rawValue: "P3M")
  /// Six months.
  public static let sixMonths = AdvancedCommerceOfferPeriod(rawValue: "P6M")
  /// Nine months.
  public static let nineMonths = AdvancedCommerceOfferPeriod(rawValue: "P9M")
  /// One year.
  public static let oneYear = AdvancedCommerceOfferPeriod(rawValue: "P1Y")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceOfferPeriod] = [
    .threeDays, .oneWeek, .twoWeeks, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .nineMonths, .oneYear,
  ]
}

/// The reason for an offer (Advanced Commerce API, `reason` of an offer).
public struct AdvancedCommerceOfferReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// To acquire a new customer.
  public static let acquisition = AdvancedCommerceOfferReason(rawValue: "ACQUISITION")
  /// To win a former customer back.
  public static let winBack = AdvancedCommerceOfferReason(rawValue: "WIN_BACK")
  /// To retain a customer.
  public static let retention = AdvancedCommerceOfferReason(rawValue: "RETENTION")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceOfferReason] = [
    .acquisition, .winBack, .retention,
  ]
}

/// The length of a subscription period, ISO 8601 (Advanced Commerce API, `period`).
public struct AdvancedCommercePeriod: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// One week.
  public static let oneWeek = AdvancedCommercePeriod(rawValue: "P1W")
  /// One month.
  public static let oneMonth = AdvancedCommercePeriod(rawValue: "P1M")
  /// Two months.
  public static let twoMonths = AdvancedCommercePeriod(rawValue: "P2M")
  /// Three months.
  public static let threeMonths = AdvancedCommercePeriod(rawValue: "P3M")
  /// Six months.
  public static let sixMonths = AdvancedCommercePeriod(rawValue: "P6M")
  /// One year.
  public static let oneYear = AdvancedCommercePeriod(rawValue: "P1Y")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommercePeriod] = [
    .oneWeek, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .oneYear,
  ]
}

/// The status of a price increase (Advanced Commerce API, `status` of a price increase).
public struct AdvancedCommercePriceIncreaseInfoStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The increase is scheduled; the customer has not been asked for consent.
  public static let scheduled = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "SCHEDULED")
  /// The customer has not responded.
  public static let pending = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "PENDING")
  /// The customer has consented or does not need to.
  public static let accepted = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "ACCEPTED")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommercePriceIncreaseInfoStatus] = [
    .scheduled, .pending, .accepted,
  ]
}

/// The reason for a change of an item of a subscription (Advanced Commerce API, `reason`).
public struct AdvancedCommerceReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer moves to a higher level of service.
  public static let upgrade = AdvancedCommerceReason(rawValue: "UPGRADE")
  /// The customer moves to a lower level of service.
  public static let downgrade = AdvancedCommerceReason(rawValue: "DOWNGRADE")
  /// The customer gets an offer.
  public static let applyOffer = AdvancedCommerceReason(rawValue: "APPLY_OFFER")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceReason] = [
    .upgrade, .downgrade, .applyOffer,
  ]
}

/// The reason for a refund (Advanced Commerce API, `refundReason`).
public struct AdvancedCommerceRefundReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer did not intend the purchase.
  public static let unintendedPurchase = AdvancedCommerceRefundReason(rawValue: "UNINTENDED_PURCHASE")
  /// The purchase was not delivered or did not work.
  public static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
  /// The customer was not satisfied with the purchase.
  public static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// A legal reason.
  public static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
  /// Another reason.
  public static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
  /// Items of the subscription were modified.
  public static let modifyItemsRefund = AdvancedCommerceRefundReason(rawValue: "MODIFY_ITEMS_REFUND")
  /// Sandbox: simulates a declined refund.
  public static let simulateRefundDecline = AdvancedCommerceRefundReason(rawValue: "SIMULATE_REFUND_DECLINE")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceRefundReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other, .modifyItemsRefund,
    .simulateRefundDecline,
  ]
}

/// The type of a refund (Advanced Commerce API, `refundType`).
public struct AdvancedCommerceRefundType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A full refund.
  public static let full = AdvancedCommerceRefundType(rawValue: "FULL")
  /// A refund of the unused part.
  public static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
  /// A refund of an amount that the developer specified.
  public static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceRefundType] = [
    .full, .prorated, .custom,
  ]
}

/// The environment of a payload (App Store Server API, `environment`). ``xcode`` and ``localTesting`` appear only in
/// data that a developer's machine signed; Apple does not vouch for it.
public struct AppStoreEnvironment: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The sandbox.
  public static let sandbox = AppStoreEnvironment(rawValue: "Sandbox")
  /// Production.
  public static let production = AppStoreEnvironment(rawValue: "Production")
  /// StoreKit testing in Xcode, signed by Xcode itself.
  public static let xcode = AppStoreEnvironment(rawValue: "Xcode")
  /// Local testing of the API, unsigned.
  public static let localTesting = AppStoreEnvironment(rawValue: "LocalTesting")

  /// The values that Apple documents.
  public static let allKnown: [AppStoreEnvironment] = [
    .sandbox, .production, .xcode, .localTesting,
  ]
}

/// The renewal status of a subscription (App Store Server API, `autoRenewStatus`).
public struct AutoRenewStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Auto-renewal is off.
  public static let off = AutoRenewStatus(rawValue: 0)
  /// Auto-renewal is on.
  public static let on = AutoRenewStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [AutoRenewStatus] = [
    .off, .on,
  ]
}

/// The billing plan of a transaction (App Store Server API 1.21, `billingPlanType`).
public struct BillingPlanType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Billed once for the whole commitment.
  public static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
  /// Billed each month of the commitment.
  public static let monthly = BillingPlanType(rawValue: "MONTHLY")

  /// The values that Apple documents.
  public static let allKnown: [BillingPlanType] = [
    .billedUpfront, .monthly,
  ]
}

/// The reason a customer gave for a refund request (App Store Server Notifications, `consumptionRequestReason`).
public struct ConsumptionRequestReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer did not intend the purchase.
  public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
  /// The purchase was not delivered or did not work.
  public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
  /// The customer was not satisfied with the purchase.
  public static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// A legal reason.
  public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
  /// Another reason.
  public static let other = ConsumptionRequestReason(rawValue: "OTHER")

  /// The values that Apple documents.
  public static let allKnown: [ConsumptionRequestReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
  ]
}

/// The reason for an expiration (App Store Server API, `expirationIntent`; notifications V1, `expiration_intent`).
public struct ExpirationIntent: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer canceled.
  public static let customerCancelled = ExpirationIntent(rawValue: 1)
  /// Billing failed.
  public static let billingError = ExpirationIntent(rawValue: 2)
  /// The customer did not consent to a price increase.
  public static let customerDidNotConsentToPriceIncrease = ExpirationIntent(rawValue: 3)
  /// The product was not for sale at renewal.
  public static let productNotAvailable = ExpirationIntent(rawValue: 4)
  /// Another reason.
  public static let other = ExpirationIntent(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [ExpirationIntent] = [
    .customerCancelled, .billingError, .customerDidNotConsentToPriceIncrease, .productNotAvailable, .other,
  ]
}

/// The type of a token for custom links (App Store Server Notifications 2.17, `tokenType`).
public struct ExternalPurchaseTokenType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A token for services.
  public static let services = ExternalPurchaseTokenType(rawValue: "SERVICES")
  /// A token for acquisition.
  public static let acquisition = ExternalPurchaseTokenType(rawValue: "ACQUISITION")

  /// The values that Apple documents.
  public static let allKnown: [ExternalPurchaseTokenType] = [
    .services, .acquisition,
  ]
}

/// How the customer obtained a product (App Store Server API, `inAppOwnershipType`).
public struct InAppOwnershipType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Shared through Family Sharing.
  public static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")
  /// Purchased by the customer.
  public static let purchased = InAppOwnershipType(rawValue: "PURCHASED")

  /// The values that Apple documents.
  public static let allKnown: [InAppOwnershipType] = [
    .familyShared, .purchased,
  ]
}

/// The event of a version 1 notification (App Store Server Notifications V1, `notification_type`). Deprecated by Apple.
public struct NotificationTypeV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Apple Support canceled and refunded a subscription.
  public static let cancel = NotificationTypeV1(rawValue: "CANCEL")
  /// The customer requested a refund of a consumable, and the App Store requests consumption information.
  public static let consumptionRequest = NotificationTypeV1(rawValue: "CONSUMPTION_REQUEST")
  /// The customer changed the plan that takes effect at the next renewal.
  public static let didChangeRenewalPref = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// Auto-renewal was turned on or off.
  public static let didChangeRenewalStatus = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// A renewal failed because of a billing problem.
  public static let didFailToRenew = NotificationTypeV1(rawValue: "DID_FAIL_TO_RENEW")
  /// A subscription renewed after an earlier failure.
  public static let didRecover = NotificationTypeV1(rawValue: "DID_RECOVER")
  /// The subscription renewed.
  public static let didRenew = NotificationTypeV1(rawValue: "DID_RENEW")
  /// The customer purchased the subscription for the first time.
  public static let initialBuy = NotificationTypeV1(rawValue: "INITIAL_BUY")
  /// The customer renewed in the app or in the App Store settings.
  public static let interactiveRenewal = NotificationTypeV1(rawValue: "INTERACTIVE_RENEWAL")
  /// The App Store has started to ask for consent to a price increase.
  public static let priceIncreaseConsent = NotificationTypeV1(rawValue: "PRICE_INCREASE_CONSENT")
  /// A consumable, non-consumable or non-renewing subscription was refunded.
  public static let refund = NotificationTypeV1(rawValue: "REFUND")
  /// A purchase is no longer shared through Family Sharing.
  public static let revoke = NotificationTypeV1(rawValue: "REVOKE")
  /// Not sent since 10 March 2021; ``didRecover`` replaced it.
  public static let renewal = NotificationTypeV1(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [NotificationTypeV1] = [
    .cancel, .consumptionRequest, .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRecover,
    .didRenew, .initialBuy, .interactiveRenewal, .priceIncreaseConsent, .refund, .revoke, .renewal,
  ]
}

/// The event of a version 2 notification (App Store Server Notifications, `notificationType`).
public struct NotificationTypeV2: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer subscribed, for the first time or again.
  public static let subscribed = NotificationTypeV2(rawValue: "SUBSCRIBED")
  /// The customer changed the plan. An upgrade takes effect immediately, a downgrade at the next renewal.
  public static let didChangeRenewalPref = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// The customer turned auto-renewal on or off, or the App Store turned it off after a refund.
  public static let didChangeRenewalStatus = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// An active subscriber redeemed an offer.
  public static let offerRedeemed = NotificationTypeV2(rawValue: "OFFER_REDEEMED")
  /// The subscription renewed. Sent up to a minute before the new period starts.
  public static let didRenew = NotificationTypeV2(rawValue: "DID_RENEW")
  /// The subscription expired; the subtype states the reason.
  public static let expired = NotificationTypeV2(rawValue: "EXPIRED")
  /// A renewal failed because of a billing problem; the App Store retries.
  public static let didFailToRenew = NotificationTypeV2(rawValue: "DID_FAIL_TO_RENEW")
  /// The billing grace period ended without a renewal.
  public static let gracePeriodExpired = NotificationTypeV2(rawValue: "GRACE_PERIOD_EXPIRED")
  /// The customer was informed of a price increase or consented to it.
  public static let priceIncrease = NotificationTypeV2(rawValue: "PRICE_INCREASE")
  /// The App Store refunded a transaction.
  public static let refund = NotificationTypeV2(rawValue: "REFUND")
  /// The App Store declined a refund request.
  public static let refundDeclined = NotificationTypeV2(rawValue: "REFUND_DECLINED")
  /// The customer requested a refund, and the App Store requests consumption information within 12 hours.
  public static let consumptionRequest = NotificationTypeV2(rawValue: "CONSUMPTION_REQUEST")
  /// The renewal date of one subscription was extended.
  public static let renewalExtended = NotificationTypeV2(rawValue: "RENEWAL_EXTENDED")
  /// A purchase is no longer shared through Family Sharing.
  public static let revoke = NotificationTypeV2(rawValue: "REVOKE")
  /// A test that the developer requested.
  public static let test = NotificationTypeV2(rawValue: "TEST")
  /// The result of an extension for all active subscribers: one failure, or the summary at the end.
  public static let renewalExtension = NotificationTypeV2(rawValue: "RENEWAL_EXTENSION")
  /// A refund was reversed after a dispute by the customer.
  public static let refundReversed = NotificationTypeV2(rawValue: "REFUND_REVERSED")
  /// A token for external purchases was created or has not been reported.
  public static let externalPurchaseToken = NotificationTypeV2(rawValue: "EXTERNAL_PURCHASE_TOKEN")
  /// The customer bought a consumable, a non-consumable or a non-renewing subscription.
  public static let oneTimeCharge = NotificationTypeV2(rawValue: "ONE_TIME_CHARGE")
  /// A parent withdrew consent for a child's use of the app.
  public static let rescindConsent = NotificationTypeV2(rawValue: "RESCIND_CONSENT")
  /// Advanced Commerce: the metadata of a subscription changed.
  public static let metadataUpdate = NotificationTypeV2(rawValue: "METADATA_UPDATE")
  /// Advanced Commerce: a subscription was migrated to the API.
  public static let migration = NotificationTypeV2(rawValue: "MIGRATION")
  /// Advanced Commerce: the price of a subscription changed.
  public static let priceChange = NotificationTypeV2(rawValue: "PRICE_CHANGE")

  /// The values that Apple documents.
  public static let allKnown: [NotificationTypeV2] = [
    .subscribed, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didRenew, .expired, .didFailToRenew,
    .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined, .consumptionRequest, .renewalExtended, .revoke,
    .test, .renewalExtension, .refundReversed, .externalPurchaseToken, .oneTimeCharge, .rescindConsent, .metadataUpdate,
    .migration, .priceChange,
  ]
}

/// The payment mode of an offer (App Store Server API, `offerDiscountType`).
public struct OfferDiscountType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A free trial.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// A reduced price for each of several periods.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// A single reduced price for several periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// A one-time reduced price for a product that is not a subscription.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

  /// The values that Apple documents.
  public static let allKnown: [OfferDiscountType] = [
    .freeTrial, .payAsYouGo, .payUpFront, .oneTime,
  ]
}

/// The type of an offer (App Store Server API, `offerType`).
public struct OfferType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An introductory offer.
  public static let introductoryOffer = OfferType(rawValue: 1)
  /// A promotional offer.
  public static let promotionalOffer = OfferType(rawValue: 2)
  /// An offer code.
  public static let offerCode = OfferType(rawValue: 3)
  /// A win-back offer.
  public static let winBackOffer = OfferType(rawValue: 4)

  /// The values that Apple documents.
  public static let allKnown: [OfferType] = [
    .introductoryOffer, .promotionalOffer, .offerCode, .winBackOffer,
  ]
}

/// The response to a price increase (App Store Server API, `priceIncreaseStatus`; notifications V1,
/// `price_consent_status`).
public struct PriceIncreaseStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer has not responded.
  public static let customerHasNotResponded = PriceIncreaseStatus(rawValue: 0)
  /// The customer consented, or was informed and does not need to consent.
  public static let customerConsentedOrWasNotifiedWithoutNeedingConsent = PriceIncreaseStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [PriceIncreaseStatus] = [
    .customerHasNotResponded, .customerConsentedOrWasNotifiedWithoutNeedingConsent,
  ]
}

/// The product type of a transaction (App Store Server API, `type`).
public struct ProductType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A subscription that renews automatically.
  public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
  /// A product that is purchased once and does not expire.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// A product that is used up and can be purchased again.
  public static let consumable = ProductType(rawValue: "Consumable")
  /// A subscription with a fixed length.
  public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

  /// The values that Apple documents.
  public static let allKnown: [ProductType] = [
    .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
  ]
}

/// The platform of the original purchase of an app (StoreKit, `originalPlatform`).
public struct PurchasePlatform: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// iOS and iPadOS.
  public static let iOS = PurchasePlatform(rawValue: "iOS")
  /// macOS.
  public static let macOS = PurchasePlatform(rawValue: "macOS")
  /// tvOS.
  public static let tvOS = PurchasePlatform(rawValue: "tvOS")
  /// visionOS.
  public static let visionOS = PurchasePlatform(rawValue: "visionOS")

  /// The values that Apple documents.
  public static let allKnown: [PurchasePlatform] = [
    .iOS, .macOS, .tvOS, .visionOS,
  ]
}

/// The billing plan of a renewal (App Store Server API 1.21, `renewalBillingPlanType`).
public struct RenewalBillingPlanType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Billed once for the whole commitment.
  public static let billedUpfront = RenewalBillingPlanType(rawValue: "BILLED_UPFRONT")
  /// Billed each month of the commitment.
  public static let monthly = RenewalBillingPlanType(rawValue: "MONTHLY")

  /// The values that Apple documents.
  public static let allKnown: [RenewalBillingPlanType] = [
    .billedUpfront, .monthly,
  ]
}

/// The reason for a refund (App Store Server API, `revocationReason`; notifications V1, `cancellation_reason`).
public struct RevocationReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Another reason, for example an accidental purchase.
  public static let refundedForOtherReason = RevocationReason(rawValue: 0)
  /// An actual or perceived issue within the app.
  public static let refundedDueToIssue = RevocationReason(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [RevocationReason] = [
    .refundedForOtherReason, .refundedDueToIssue,
  ]
}

/// The type of a revocation (App Store Server API, `revocationType`).
public struct RevocationType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A full refund.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// A partial refund; see `revocationPercentage`.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// The end of Family Sharing.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

  /// The values that Apple documents.
  public static let allKnown: [RevocationType] = [
    .refundFull, .refundProrated, .familyRevoke,
  ]
}

/// The status of an auto-renewable subscription at `signedDate` (App Store Server Notifications, `status`).
public struct Status: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Active.
  public static let active = Status(rawValue: 1)
  /// Expired.
  public static let expired = Status(rawValue: 2)
  /// In the billing retry period; the customer has no access.
  public static let billingRetry = Status(rawValue: 3)
  /// In the billing grace period; the customer keeps access.
  public static let billingGracePeriod = Status(rawValue: 4)
  /// Revoked: refunded or no longer shared through Family Sharing.
  public static let revoked = Status(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [Status] = [
    .active, .expired, .billingRetry, .billingGracePeriod, .revoked,
  ]
}

/// The subtype of a version 2 notification (App Store Server Notifications, `subtype`). If a notification has none, the
/// field is absent and never empty.
public struct Subtype: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The first purchase of any product in the subscription group.
  public static let initialBuy = Subtype(rawValue: "INITIAL_BUY")
  /// A purchase after an earlier subscription in the group had expired.
  public static let resubscribe = Subtype(rawValue: "RESUBSCRIBE")
  /// A change to a lower plan, which takes effect at the next renewal.
  public static let downgrade = Subtype(rawValue: "DOWNGRADE")
  /// A change to a higher plan, which takes effect immediately.
  public static let upgrade = Subtype(rawValue: "UPGRADE")
  /// Auto-renewal was turned on.
  public static let autoRenewEnabled = Subtype(rawValue: "AUTO_RENEW_ENABLED")
  /// Auto-renewal was turned off.
  public static let autoRenewDisabled = Subtype(rawValue: "AUTO_RENEW_DISABLED")
  /// The subscription expired because the customer had turned auto-renewal off.
  public static let voluntary = Subtype(rawValue: "VOLUNTARY")
  /// The subscription expired because billing failed until the retry period ended.
  public static let billingRetry = Subtype(rawValue: "BILLING_RETRY")
  /// The subscription expired because the customer did not consent to a price increase.
  public static let priceIncrease = Subtype(rawValue: "PRICE_INCREASE")
  /// The failed renewal is in a billing grace period: continue to provide access.
  public static let gracePeriod = Subtype(rawValue: "GRACE_PERIOD")
  /// The customer has not responded to the price increase.
  public static let pending = Subtype(rawValue: "PENDING")
  /// The customer consented to the price increase or does not need to.
  public static let accepted = Subtype(rawValue: "ACCEPTED")
  /// The subscription renewed after an earlier billing failure.
  public static let billingRecovery = Subtype(rawValue: "BILLING_RECOVERY")
  /// The subscription expired because the product was not for sale at renewal.
  public static let productNotForSale = Subtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  /// The extension for all active subscribers is complete.
  public static let summary = Subtype(rawValue: "SUMMARY")
  /// The extension for all active subscribers failed for one subscription.
  public static let failure = Subtype(rawValue: "FAILURE")
  /// The external purchase token has not been reported.
  public static let unreported = Subtype(rawValue: "UNREPORTED")
  /// The external purchase token was created.
  public static let created = Subtype(rawValue: "CREATED")
  /// The external purchase token is still active, and its report is due.
  public static let activeTokenReminder = Subtype(rawValue: "ACTIVE_TOKEN_REMINDER")

  /// The values that Apple documents.
  public static let allKnown: [Subtype] = [
    .initialBuy, .resubscribe, .downgrade, .upgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary, .billingRetry,
    .priceIncrease, .gracePeriod, .pending, .accepted, .billingRecovery, .productNotForSale, .summary, .failure,
    .unreported, .created, .activeTokenReminder,
  ]
}

/// The cause of a transaction (App Store Server API, `transactionReason`).
public struct TransactionReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A purchase by the customer.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// A renewal by the App Store.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [TransactionReason] = [
    .purchase, .renewal,
  ]
}
