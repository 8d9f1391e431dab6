// The error codes of the App Store Server API, with the names of Apple's Swift library.

extension APIErrorCode {
  /// The request is malformed or syntactically wrong.
  public static let generalBadRequest = APIErrorCode(rawValue: 4000000)
  /// The app identifier is not accepted, usually the JWT's `bid` claim.
  public static let invalidAppIdentifier = APIErrorCode(rawValue: 4000002)
  /// The `revision` query token is invalid.
  public static let invalidRequestRevision = APIErrorCode(rawValue: 4000005)
  /// The transaction identifier is not well-formed.
  public static let invalidTransactionId = APIErrorCode(rawValue: 4000006)
  /// The original transaction identifier is not well-formed.
  public static let invalidOriginalTransactionId = APIErrorCode(rawValue: 4000008)
  /// `extendByDays` is not in 1..90.
  public static let invalidExtendByDays = APIErrorCode(rawValue: 4000009)
  /// `extendReasonCode` is not in 0..3.
  public static let invalidExtendReasonCode = APIErrorCode(rawValue: 4000010)
  /// `requestIdentifier` is invalid: it must be a UUID for the mass endpoints, and otherwise at most 128 characters.
  public static let invalidRequestIdentifier = APIErrorCode(rawValue: 4000011)
  /// `startDate` is older than the window of 180 days (30 days in the sandbox).
  public static let startDateTooFarInPast = APIErrorCode(rawValue: 4000012)
  /// `endDate` is not later than `startDate`.
  public static let startDateAfterEndDate = APIErrorCode(rawValue: 4000013)
  /// `paginationToken` is invalid.
  public static let invalidPaginationToken = APIErrorCode(rawValue: 4000014)
  /// `startDate` is invalid.
  public static let invalidStartDate = APIErrorCode(rawValue: 4000015)
  /// `endDate` is invalid.
  public static let invalidEndDate = APIErrorCode(rawValue: 4000016)
  /// `paginationToken` is too old or was used with another body. Start again at the first page.
  public static let paginationTokenExpired = APIErrorCode(rawValue: 4000017)
  /// `notificationType` and `notificationSubtype` are unknown or not a valid pair.
  public static let invalidNotificationType = APIErrorCode(rawValue: 4000018)
  /// The request has filters that are mutually exclusive.
  public static let multipleFiltersSupplied = APIErrorCode(rawValue: 4000019)
  /// The test notification token is invalid.
  public static let invalidTestNotificationToken = APIErrorCode(rawValue: 4000020)
  /// `sort` is neither ASCENDING nor DESCENDING.
  public static let invalidSort = APIErrorCode(rawValue: 4000021)
  /// The `productType` filter is invalid.
  public static let invalidProductType = APIErrorCode(rawValue: 4000022)
  /// `productId` is invalid.
  public static let invalidProductId = APIErrorCode(rawValue: 4000023)
  /// The `subscriptionGroupIdentifier` filter is invalid.
  public static let invalidSubscriptionGroupIdentifier = APIErrorCode(rawValue: 4000024)
  /// The deprecated `excludeRevoked` filter is invalid.
  public static let invalidExcludeRevoked = APIErrorCode(rawValue: 4000025)
  /// The `inAppOwnershipType` filter is invalid.
  public static let invalidInAppOwnershipType = APIErrorCode(rawValue: 4000026)
  /// `storefrontCountryCodes` is empty. Omit it instead.
  public static let invalidEmptyStorefrontCountryCodeList = APIErrorCode(rawValue: 4000027)
  /// A storefront code is not a known alpha-3 code.
  public static let invalidStorefrontCountryCode = APIErrorCode(rawValue: 4000028)
  /// The `revoked` filter is neither true nor false.
  public static let invalidRevoked = APIErrorCode(rawValue: 4000030)
  /// The `status` filter is not in 1..5.
  public static let invalidStatus = APIErrorCode(rawValue: 4000031)
  /// `accountTenure` is not a documented value.
  public static let invalidAccountTenure = APIErrorCode(rawValue: 4000032)
  /// `appAccountToken` is neither a UUID nor the empty string.
  public static let invalidAppAccountToken = APIErrorCode(rawValue: 4000033)
  /// `consumptionStatus` is not a documented value.
  public static let invalidConsumptionStatus = APIErrorCode(rawValue: 4000034)
  /// `customerConsented` is missing or not true.
  public static let invalidCustomerConsented = APIErrorCode(rawValue: 4000035)
  /// `deliveryStatus` is not a documented value: a number for V1, a string for V2.
  public static let invalidDeliveryStatus = APIErrorCode(rawValue: 4000036)
  /// `lifetimeDollarsPurchased` is not a documented value.
  public static let invalidLifetimeDollarsPurchased = APIErrorCode(rawValue: 4000037)
  /// `lifetimeDollarsRefunded` is not a documented value.
  public static let invalidLifetimeDollarsRefunded = APIErrorCode(rawValue: 4000038)
  /// `platform` is not a documented value.
  public static let invalidPlatform = APIErrorCode(rawValue: 4000039)
  /// `playTime` is not a documented value.
  public static let invalidPlayTime = APIErrorCode(rawValue: 4000040)
  /// `sampleContentProvided` is not a Boolean.
  public static let invalidSampleContentProvided = APIErrorCode(rawValue: 4000041)
  /// `userStatus` is not a documented value.
  public static let invalidUserStatus = APIErrorCode(rawValue: 4000042)
  /// The transaction is not a consumable. Apple no longer sends this error.
  public static let invalidTransactionNotConsumable = APIErrorCode(rawValue: 4000043)
  /// The endpoint does not support the product type of the transaction.
  public static let invalidTransactionTypeNotSupported = APIErrorCode(rawValue: 4000047)
  /// The endpoint does not accept an `appTransactionId`.
  public static let appTransactionIdNotSupported = APIErrorCode(rawValue: 4000048)
  /// `appAccountToken` is not a UUID.
  public static let invalidAppAccountTokenUUID = APIErrorCode(rawValue: 4000183)
  /// The transaction comes from Family Sharing.
  public static let familyTransactionNotSupported = APIErrorCode(rawValue: 4000185)
  /// The request has a transaction identifier instead of an original transaction identifier.
  public static let transactionIdNotOriginalTransactionId = APIErrorCode(rawValue: 4000187)
  /// The subscription cannot be extended: a free offer, billing retry, expired, or two extensions in 365 days.
  public static let subscriptionExtensionIneligible = APIErrorCode(rawValue: 4030004)
  /// The subscription already had the maximum number of extensions.
  public static let subscriptionMaxExtension = APIErrorCode(rawValue: 4030005)
  /// The subscription comes from Family Sharing. Extend the purchaser's subscription instead.
  public static let familySharedSubscriptionExtensionIneligible = APIErrorCode(rawValue: 4030007)
  /// There is no such App Store account.
  public static let accountNotFound = APIErrorCode(rawValue: 4040001)
  /// The account was temporarily not found.
  public static let accountNotFoundRetryable = APIErrorCode(rawValue: 4040002)
  /// There is no app for the `bid` claim.
  public static let appNotFound = APIErrorCode(rawValue: 4040003)
  /// The app was temporarily not found.
  public static let appNotFoundRetryable = APIErrorCode(rawValue: 4040004)
  /// There is no such original transaction for this app and environment.
  public static let originalTransactionIdNotFound = APIErrorCode(rawValue: 4040005)
  /// The original transaction was temporarily not found.
  public static let originalTransactionIdNotFoundRetryable = APIErrorCode(rawValue: 4040006)
  /// App Store Connect has no notification URL for this environment.
  public static let serverNotificationUrlNotFound = APIErrorCode(rawValue: 4040007)
  /// The test notification has no status: not yet, right after the request, or no longer, after six months.
  public static let testNotificationNotFound = APIErrorCode(rawValue: 4040008)
  /// There is no mass extension for this `productId` and `requestIdentifier`.
  public static let statusRequestNotFound = APIErrorCode(rawValue: 4040009)
  /// There is no such transaction for this app and environment. Try the other environment; right after a purchase,
  /// retry later.
  public static let transactionIdNotFound = APIErrorCode(rawValue: 4040010)
  /// The customer has no app transaction.
  public static let appTransactionDoesNotExist = APIErrorCode(rawValue: 4040019)
  /// The hourly limit is reached. Wait until the time in `Retry-After`.
  public static let rateLimitExceeded = APIErrorCode(rawValue: 4290000)
  /// An internal error at Apple.
  public static let generalInternal = APIErrorCode(rawValue: 5000000)
  /// An internal error at Apple. A retry may succeed.
  public static let generalInternalRetryable = APIErrorCode(rawValue: 5000001)
}
