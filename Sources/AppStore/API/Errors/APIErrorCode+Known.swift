// The error codes of the App Store Server API, by the names of Apple's Swift library.

extension APIErrorCode {
  /// Request malformed or syntactically wrong.
  public static let generalBadRequest = APIErrorCode(rawValue: 4000000)
  /// App identifier (usually the JWT's bid claim) not acceptable.
  public static let invalidAppIdentifier = APIErrorCode(rawValue: 4000002)
  /// Revision query token not valid.
  public static let invalidRequestRevision = APIErrorCode(rawValue: 4000005)
  /// Transaction id not well-formed.
  public static let invalidTransactionId = APIErrorCode(rawValue: 4000006)
  /// Original transaction id not well-formed.
  public static let invalidOriginalTransactionId = APIErrorCode(rawValue: 4000008)
  /// `extendByDays` outside 1..90.
  public static let invalidExtendByDays = APIErrorCode(rawValue: 4000009)
  /// `extendReasonCode` not in 0..3.
  public static let invalidExtendReasonCode = APIErrorCode(rawValue: 4000010)
  /// `requestIdentifier` not valid (must be a UUID for the mass endpoints, at most 128 chars otherwise).
  public static let invalidRequestIdentifier = APIErrorCode(rawValue: 4000011)
  /// `startDate` older than the 180-day (sandbox 30-day) window.
  public static let startDateTooFarInPast = APIErrorCode(rawValue: 4000012)
  /// `endDate` not later than startDate.
  public static let startDateAfterEndDate = APIErrorCode(rawValue: 4000013)
  /// `paginationToken` not valid.
  public static let invalidPaginationToken = APIErrorCode(rawValue: 4000014)
  /// `startDate` not valid.
  public static let invalidStartDate = APIErrorCode(rawValue: 4000015)
  /// `endDate` not valid.
  public static let invalidEndDate = APIErrorCode(rawValue: 4000016)
  /// `paginationToken` too old, or used with another body; start again at the first page.
  public static let paginationTokenExpired = APIErrorCode(rawValue: 4000017)
  /// `notificationType/subtype` unknown or not a valid pair.
  public static let invalidNotificationType = APIErrorCode(rawValue: 4000018)
  /// Mutually exclusive filters sent together.
  public static let multipleFiltersSupplied = APIErrorCode(rawValue: 4000019)
  /// Test notification token not valid.
  public static let invalidTestNotificationToken = APIErrorCode(rawValue: 4000020)
  /// Sort not ASCENDING/DESCENDING.
  public static let invalidSort = APIErrorCode(rawValue: 4000021)
  /// `productType` filter not valid.
  public static let invalidProductType = APIErrorCode(rawValue: 4000022)
  /// `productId` not valid.
  public static let invalidProductId = APIErrorCode(rawValue: 4000023)
  /// `subscriptionGroupIdentifier` filter not valid.
  public static let invalidSubscriptionGroupIdentifier = APIErrorCode(rawValue: 4000024)
  /// `excludeRevoked` filter not valid (deprecated filter).
  public static let invalidExcludeRevoked = APIErrorCode(rawValue: 4000025)
  /// `inAppOwnershipType` filter not valid.
  public static let invalidInAppOwnershipType = APIErrorCode(rawValue: 4000026)
  /// `storefrontCountryCodes` present but empty; leave it out instead.
  public static let invalidEmptyStorefrontCountryCodeList = APIErrorCode(rawValue: 4000027)
  /// A storefront code is not a known alpha-3 code.
  public static let invalidStorefrontCountryCode = APIErrorCode(rawValue: 4000028)
  /// Revoked filter not true/false.
  public static let invalidRevoked = APIErrorCode(rawValue: 4000030)
  /// Status filter not 1..5.
  public static let invalidStatus = APIErrorCode(rawValue: 4000031)
  /// `accountTenure` outside its enum.
  public static let invalidAccountTenure = APIErrorCode(rawValue: 4000032)
  /// `appAccountToken` neither a UUID nor the empty string.
  public static let invalidAppAccountToken = APIErrorCode(rawValue: 4000033)
  /// `consumptionStatus` outside its enum.
  public static let invalidConsumptionStatus = APIErrorCode(rawValue: 4000034)
  /// `customerConsented` missing or not true.
  public static let invalidCustomerConsented = APIErrorCode(rawValue: 4000035)
  /// `deliveryStatus` outside its enum (a number for V1, a string for V2).
  public static let invalidDeliveryStatus = APIErrorCode(rawValue: 4000036)
  /// `lifetimeDollarsPurchased` outside its enum.
  public static let invalidLifetimeDollarsPurchased = APIErrorCode(rawValue: 4000037)
  /// `lifetimeDollarsRefunded` outside its enum.
  public static let invalidLifetimeDollarsRefunded = APIErrorCode(rawValue: 4000038)
  /// Platform outside its enum.
  public static let invalidPlatform = APIErrorCode(rawValue: 4000039)
  /// `playTime` outside its enum.
  public static let invalidPlayTime = APIErrorCode(rawValue: 4000040)
  /// `sampleContentProvided` not a boolean.
  public static let invalidSampleContentProvided = APIErrorCode(rawValue: 4000041)
  /// `userStatus` outside its enum.
  public static let invalidUserStatus = APIErrorCode(rawValue: 4000042)
  /// Transaction is not a consumable; no longer sent.
  public static let invalidTransactionNotConsumable = APIErrorCode(rawValue: 4000043)
  /// Product type of the transaction not supported by the endpoint.
  public static let invalidTransactionTypeNotSupported = APIErrorCode(rawValue: 4000047)
  /// Endpoint does not take an appTransactionId.
  public static let appTransactionIdNotSupported = APIErrorCode(rawValue: 4000048)
  /// `appAccountToken` is not a UUID.
  public static let invalidAppAccountTokenUUID = APIErrorCode(rawValue: 4000183)
  /// Transaction came through Family Sharing.
  public static let familyTransactionNotSupported = APIErrorCode(rawValue: 4000185)
  /// A transaction id was given where an original transaction id is needed.
  public static let transactionIdNotOriginalTransactionId = APIErrorCode(rawValue: 4000187)
  /// The subscription cannot be extended: free offer, billing retry, expired, or twice in 365 days.
  public static let subscriptionExtensionIneligible = APIErrorCode(rawValue: 4030004)
  /// Subscription already had its maximum number of extensions.
  public static let subscriptionMaxExtension = APIErrorCode(rawValue: 4030005)
  /// Subscription reached through Family Sharing; extend the purchaser's instead.
  public static let familySharedSubscriptionExtensionIneligible = APIErrorCode(rawValue: 4030007)
  /// No such App Store account.
  public static let accountNotFound = APIErrorCode(rawValue: 4040001)
  /// Account not found for now.
  public static let accountNotFoundRetryable = APIErrorCode(rawValue: 4040002)
  /// No such app for the bid claim.
  public static let appNotFound = APIErrorCode(rawValue: 4040003)
  /// App not found for now.
  public static let appNotFoundRetryable = APIErrorCode(rawValue: 4040004)
  /// No such original transaction for this app and environment.
  public static let originalTransactionIdNotFound = APIErrorCode(rawValue: 4040005)
  /// Original transaction not found for now.
  public static let originalTransactionIdNotFoundRetryable = APIErrorCode(rawValue: 4040006)
  /// No notification URL set in App Store Connect for this environment.
  public static let serverNotificationUrlNotFound = APIErrorCode(rawValue: 4040007)
  /// No status of that test notification: not yet right after the request, or no longer after six months.
  public static let testNotificationNotFound = APIErrorCode(rawValue: 4040008)
  /// No mass extension for this productId + requestIdentifier.
  public static let statusRequestNotFound = APIErrorCode(rawValue: 4040009)
  /// No such transaction for this app and environment; try the other environment, or right after a purchase again.
  public static let transactionIdNotFound = APIErrorCode(rawValue: 4040010)
  /// Customer has no app transaction.
  public static let appTransactionDoesNotExist = APIErrorCode(rawValue: 4040019)
  /// The hourly limit is used up; wait until Retry-After.
  public static let rateLimitExceeded = APIErrorCode(rawValue: 4290000)
  /// Internal error at Apple.
  public static let generalInternal = APIErrorCode(rawValue: 5000000)
  /// Internal error at Apple that another try may not meet.
  public static let generalInternalRetryable = APIErrorCode(rawValue: 5000001)
}
