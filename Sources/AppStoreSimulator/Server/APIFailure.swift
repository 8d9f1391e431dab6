// Apple's error responses: an error code and a message.

internal import AppStore

/// An error of the App Store Server API. Its body is `{"errorCode":…,"errorMessage":…}`, and its status is the
/// beginning of the code.
struct APIFailure: Error, Sendable, Hashable {
  /// Apple's error code, seven digits.
  let code: Int64
  /// Apple's message, or a similar one if Apple's is unknown.
  let message: String

  init(_ code: Int64, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The HTTP status, the first three digits of the code.
  var status: Int { Int(code / 10_000) }

  /// The body, as Apple writes it.
  var body: [UInt8] {
    (["errorCode": .integer(code), "errorMessage": .string(message)] as JSONObject).serialized()
  }
}

extension APIFailure {
  static let badRequest = APIFailure(4_000_000, "Bad request.")
  static let invalidAppIdentifier = APIFailure(4_000_002, "Invalid request app identifier.")
  static let invalidRevision = APIFailure(4_000_005, "Invalid request revision.")
  static let invalidTransactionId = APIFailure(4_000_006, "Invalid transaction id.")
  static let invalidOriginalTransactionId = APIFailure(4_000_008, "Invalid original transaction id.")
  static let invalidExtendByDays = APIFailure(4_000_009, "Invalid extend by days value.")
  static let invalidExtendReasonCode = APIFailure(4_000_010, "Invalid extend reason code.")
  static let invalidRequestIdentifier = APIFailure(4_000_011, "Invalid request identifier.")
  static let startDateTooFarInPast = APIFailure(
    4_000_012, "Invalid request. The start date is earlier than the allowed start date.")
  static let startDateAfterEndDate = APIFailure(
    4_000_013, "Invalid request. The end date precedes the start date or the dates are the same.")
  static let invalidPaginationToken = APIFailure(4_000_014, "Invalid request. The pagination token is invalid.")
  static let invalidStartDate = APIFailure(4_000_015, "Invalid request. The start date is invalid.")
  static let invalidEndDate = APIFailure(4_000_016, "Invalid request. The end date is invalid.")
  static let paginationTokenExpired = APIFailure(4_000_017, "Invalid request. The pagination token has expired.")
  static let invalidNotificationType = APIFailure(
    4_000_018, "Invalid request. The notification type or subtype is invalid.")
  static let multipleFiltersSupplied = APIFailure(
    4_000_019, "Invalid request. Supply either a transaction id or a notification type, but not both.")
  static let invalidTestNotificationToken = APIFailure(
    4_000_020, "Invalid request. The test notification token is invalid.")
  static let invalidSort = APIFailure(4_000_021, "Invalid request. The sort parameter is invalid.")
  static let invalidProductType = APIFailure(4_000_022, "Invalid request. The product type parameter is invalid.")
  static let invalidProductId = APIFailure(4_000_023, "Invalid request. The product id parameter is invalid.")
  static let invalidSubscriptionGroupIdentifier = APIFailure(
    4_000_024, "Invalid request. The subscription group identifier parameter is invalid.")
  static let invalidExcludeRevoked = APIFailure(4_000_025, "Invalid request. The exclude revoked parameter is invalid.")
  static let invalidInAppOwnershipType = APIFailure(
    4_000_026, "Invalid request. The in-app ownership type parameter is invalid.")
  static let invalidEmptyStorefrontCountryCodeList = APIFailure(
    4_000_027, "Invalid request. The storefront country code list is empty.")
  static let invalidStorefrontCountryCode = APIFailure(
    4_000_028, "Invalid request. A storefront country code is invalid.")
  static let invalidRevoked = APIFailure(4_000_030, "Invalid request. The revoked parameter is invalid.")
  static let invalidStatus = APIFailure(4_000_031, "Invalid request. The status parameter is invalid.")
  static let invalidAccountTenure = APIFailure(4_000_032, "Invalid request. The account tenure field is invalid.")
  static let invalidAppAccountToken = APIFailure(4_000_033, "Invalid request. The app account token field is invalid.")
  static let invalidConsumptionStatus = APIFailure(
    4_000_034, "Invalid request. The consumption status field is invalid.")
  static let invalidCustomerConsented = APIFailure(
    4_000_035, "Invalid request. The customer consented field is invalid. The customer must consent.")
  static let invalidDeliveryStatus = APIFailure(4_000_036, "Invalid request. The delivery status field is invalid.")
  static let invalidLifetimeDollarsPurchased = APIFailure(
    4_000_037, "Invalid request. The lifetime dollars purchased field is invalid.")
  static let invalidLifetimeDollarsRefunded = APIFailure(
    4_000_038, "Invalid request. The lifetime dollars refunded field is invalid.")
  static let invalidPlatform = APIFailure(4_000_039, "Invalid request. The platform field is invalid.")
  static let invalidPlayTime = APIFailure(4_000_040, "Invalid request. The playtime field is invalid.")
  static let invalidSampleContentProvided = APIFailure(
    4_000_041, "Invalid request. The sample content provided field is invalid.")
  static let invalidUserStatus = APIFailure(4_000_042, "Invalid request. The user status field is invalid.")
  static let invalidTransactionTypeNotSupported = APIFailure(
    4_000_047, "Invalid request. The transaction type is not supported.")
  static let appTransactionIdNotSupported = APIFailure(
    4_000_048, "Invalid request. An app transaction id is not supported by this endpoint.")
  static let invalidAppAccountTokenUUID = APIFailure(
    4_000_183, "Invalid request. The app account token is not a valid UUID.")
  static let familyTransactionNotSupported = APIFailure(
    4_000_185, "Invalid request. Family Sharing transactions are not supported by this endpoint.")
  static let transactionIdIsNotOriginalTransactionId = APIFailure(
    4_000_187, "Invalid request. The transaction id is not an original transaction id.")
  static let subscriptionExtensionIneligible = APIFailure(
    4_030_004, "Forbidden - subscription state ineligible for extension.")
  static let subscriptionMaxExtension = APIFailure(
    4_030_005, "Forbidden - subscription has reached maximum extension count.")
  static let familySharedSubscriptionExtensionIneligible = APIFailure(
    4_030_007, "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly.")
  static let appNotFound = APIFailure(4_040_003, "App not found.")
  static let originalTransactionIdNotFound = APIFailure(4_040_005, "Original transaction id not found.")
  static let serverNotificationURLNotFound = APIFailure(
    4_040_007,
    "No App Store Server Notification URL found for provided app. Check that a URL is configured in App "
      + "Store Connect for this environment.")
  static let testNotificationNotFound = APIFailure(
    4_040_008, "Either the test notification token is expired or the notification and status are not yet available.")
  static let statusRequestNotFound = APIFailure(
    4_040_009,
    "The server didn't find a subscription-renewal-date extension request for this product identifier and "
      + "request identifier.")
  static let transactionIdNotFound = APIFailure(4_040_010, "Transaction id not found.")
  static let appTransactionDoesNotExist = APIFailure(4_040_019, "App transaction does not exist.")
  static let rateLimitExceeded = APIFailure(4_290_000, "Rate limit exceeded.")
  static let generalInternal = APIFailure(5_000_000, "An unknown error occurred.")

  // Apple names these errors but publishes no codes for them. The codes are the simulator's own; a client must treat
  // them as unknown codes, as it must treat Apple's.
  static let invalidRefundPreference = APIFailure(4_000_901, "InvalidRefundPreferenceError")
  static let consumptionPercentageOutOfRange = APIFailure(4_000_902, "ConsumptionPercentageOutOfRangeError")
  static let consumptionPercentageAutoRenewableSubscription = APIFailure(
    4_000_903, "ConsumptionPercentageAutoRenewableSubscriptionError")
  static let undeliveredConsumptionPercentageNonZero = APIFailure(
    4_000_904, "UndeliveredConsumptionPercentageNonZeroError")
}
