// Written from Sources/AppStore/Fields/ErrorCodes.md by `scripts/check types --write`.

extension APIErrorCode {
  /// `GeneralBadRequestError`: request malformed or syntactically wrong.
  public static let generalBadRequest = APIErrorCode(rawValue: 4000000)
  /// `InvalidAppIdentifierError`: app identifier (usually the JWT's bid claim) not acceptable.
  public static let invalidAppIdentifier = APIErrorCode(rawValue: 4000002)
  /// `InvalidRequestRevisionError`: revision query token not valid.
  public static let invalidRequestRevision = APIErrorCode(rawValue: 4000005)
  /// `InvalidTransactionIdError`: transaction id not well-formed.
  public static let invalidTransactionId = APIErrorCode(rawValue: 4000006)
  /// `InvalidOriginalTransactionIdError`: original transaction id not well-formed.
  public static let invalidOriginalTransactionId = APIErrorCode(rawValue: 4000008)
  /// `InvalidExtendByDaysError`: extendByDays outside 1..90.
  public static let invalidExtendByDays = APIErrorCode(rawValue: 4000009)
  /// `InvalidExtendReasonCodeError`: extendReasonCode not in 0..3.
  public static let invalidExtendReasonCode = APIErrorCode(rawValue: 4000010)
  /// `InvalidRequestIdentifierError`: requestIdentifier not valid (must be a UUID for the mass endpoints, at most 128
  /// chars otherwise).
  public static let invalidRequestIdentifier = APIErrorCode(rawValue: 4000011)
  /// `StartDateTooFarInPastError`: startDate older than the 180-day (sandbox 30-day) window.
  public static let startDateTooFarInPast = APIErrorCode(rawValue: 4000012)
  /// `StartDateAfterEndDateError`: endDate not later than startDate.
  public static let startDateAfterEndDate = APIErrorCode(rawValue: 4000013)
  /// `InvalidPaginationTokenError`: paginationToken not valid.
  public static let invalidPaginationToken = APIErrorCode(rawValue: 4000014)
  /// `InvalidStartDateError`: startDate not valid.
  public static let invalidStartDate = APIErrorCode(rawValue: 4000015)
  /// `InvalidEndDateError`: endDate not valid.
  public static let invalidEndDate = APIErrorCode(rawValue: 4000016)
  /// `PaginationTokenExpiredError`: paginationToken too old, or used with another body; start again at the first page.
  public static let paginationTokenExpired = APIErrorCode(rawValue: 4000017)
  /// `InvalidNotificationTypeError`: notificationType/subtype unknown or not a valid pair.
  public static let invalidNotificationType = APIErrorCode(rawValue: 4000018)
  /// `MultipleFiltersSuppliedError`: mutually exclusive filters sent together.
  public static let multipleFiltersSupplied = APIErrorCode(rawValue: 4000019)
  /// `InvalidTestNotificationTokenError`: test notification token not valid.
  public static let invalidTestNotificationToken = APIErrorCode(rawValue: 4000020)
  /// `InvalidSortError`: sort not ASCENDING/DESCENDING.
  public static let invalidSort = APIErrorCode(rawValue: 4000021)
  /// `InvalidProductTypeError`: productType filter not valid.
  public static let invalidProductType = APIErrorCode(rawValue: 4000022)
  /// `InvalidProductIdError`: productId not valid.
  public static let invalidProductId = APIErrorCode(rawValue: 4000023)
  /// `InvalidSubscriptionGroupIdentifierError`: subscriptionGroupIdentifier filter not valid.
  public static let invalidSubscriptionGroupIdentifier = APIErrorCode(rawValue: 4000024)
  /// `InvalidExcludeRevokedError`: excludeRevoked filter not valid (deprecated filter).
  public static let invalidExcludeRevoked = APIErrorCode(rawValue: 4000025)
  /// `InvalidInAppOwnershipTypeError`: inAppOwnershipType filter not valid.
  public static let invalidInAppOwnershipType = APIErrorCode(rawValue: 4000026)
  /// `InvalidEmptyStorefrontCountryCodeListError`: storefrontCountryCodes present but empty; leave it out instead.
  public static let invalidEmptyStorefrontCountryCodeList = APIErrorCode(rawValue: 4000027)
  /// `InvalidStorefrontCountryCodeError`: a storefront code is not a known alpha-3 code.
  public static let invalidStorefrontCountryCode = APIErrorCode(rawValue: 4000028)
  /// `InvalidRevokedError`: revoked filter not true/false.
  public static let invalidRevoked = APIErrorCode(rawValue: 4000030)
  /// `InvalidStatusError`: status filter not 1..5.
  public static let invalidStatus = APIErrorCode(rawValue: 4000031)
  /// `InvalidAccountTenureError`: accountTenure outside its enum.
  public static let invalidAccountTenure = APIErrorCode(rawValue: 4000032)
  /// `InvalidAppAccountTokenError`: appAccountToken neither a UUID nor the empty string.
  public static let invalidAppAccountToken = APIErrorCode(rawValue: 4000033)
  /// `InvalidConsumptionStatusError`: consumptionStatus outside its enum.
  public static let invalidConsumptionStatus = APIErrorCode(rawValue: 4000034)
  /// `InvalidCustomerConsentedError`: customerConsented missing or not true.
  public static let invalidCustomerConsented = APIErrorCode(rawValue: 4000035)
  /// `InvalidDeliveryStatusError`: deliveryStatus outside its enum (a number for V1, a string for V2).
  public static let invalidDeliveryStatus = APIErrorCode(rawValue: 4000036)
  /// `InvalidLifetimeDollarsPurchasedError`: lifetimeDollarsPurchased outside its enum.
  public static let invalidLifetimeDollarsPurchased = APIErrorCode(rawValue: 4000037)
  /// `InvalidLifetimeDollarsRefundedError`: lifetimeDollarsRefunded outside its enum.
  public static let invalidLifetimeDollarsRefunded = APIErrorCode(rawValue: 4000038)
  /// `InvalidPlatformError`: platform outside its enum.
  public static let invalidPlatform = APIErrorCode(rawValue: 4000039)
  /// `InvalidPlayTimeError`: playTime outside its enum.
  public static let invalidPlayTime = APIErrorCode(rawValue: 4000040)
  /// `InvalidSampleContentProvidedError`: sampleContentProvided not a boolean.
  public static let invalidSampleContentProvided = APIErrorCode(rawValue: 4000041)
  /// `InvalidUserStatusError`: userStatus outside its enum.
  public static let invalidUserStatus = APIErrorCode(rawValue: 4000042)
  /// `InvalidTransactionNotConsumableError`: transaction is not a consumable; no longer sent.
  public static let invalidTransactionNotConsumable = APIErrorCode(rawValue: 4000043)
  /// `InvalidTransactionTypeNotSupportedError`: product type of the transaction not supported by the endpoint.
  public static let invalidTransactionTypeNotSupported = APIErrorCode(rawValue: 4000047)
  /// `AppTransactionIdNotSupportedError`: endpoint does not take an appTransactionId.
  public static let appTransactionIdNotSupported = APIErrorCode(rawValue: 4000048)
  /// `InvalidAppAccountTokenUUIDError`: appAccountToken is not a UUID.
  public static let invalidAppAccountTokenUUID = APIErrorCode(rawValue: 4000183)
  /// `FamilyTransactionNotSupportedError`: transaction came through Family Sharing.
  public static let familyTransactionNotSupported = APIErrorCode(rawValue: 4000185)
  /// `TransactionIdIsNotOriginalTransactionIdError`: a transaction id was given where an original transaction id is
  /// needed.
  public static let transactionIdNotOriginalTransactionId = APIErrorCode(rawValue: 4000187)
  /// `SubscriptionExtensionIneligibleError`: the subscription cannot be extended: free offer, billing retry, expired,
  /// or twice in 365 days.
  public static let subscriptionExtensionIneligible = APIErrorCode(rawValue: 4030004)
  /// `SubscriptionMaxExtensionError`: subscription already had its maximum number of extensions.
  public static let subscriptionMaxExtension = APIErrorCode(rawValue: 4030005)
  /// `FamilySharedSubscriptionExtensionIneligibleError`: subscription reached through Family Sharing; extend the
  /// purchaser's instead.
  public static let familySharedSubscriptionExtensionIneligible = APIErrorCode(rawValue: 4030007)
  /// `AccountNotFoundError`: no such App Store account.
  public static let accountNotFound = APIErrorCode(rawValue: 4040001)
  /// `AccountNotFoundRetryableError`: account not found for now.
  public static let accountNotFoundRetryable = APIErrorCode(rawValue: 4040002)
  /// `AppNotFoundError`: no such app for the bid claim.
  public static let appNotFound = APIErrorCode(rawValue: 4040003)
  /// `AppNotFoundRetryableError`: app not found for now.
  public static let appNotFoundRetryable = APIErrorCode(rawValue: 4040004)
  /// `OriginalTransactionIdNotFoundError`: no such original transaction for this app and environment.
  public static let originalTransactionIdNotFound = APIErrorCode(rawValue: 4040005)
  /// `OriginalTransactionIdNotFoundRetryableError`: original transaction not found for now.
  public static let originalTransactionIdNotFoundRetryable = APIErrorCode(rawValue: 4040006)
  /// `ServerNotificationURLNotFoundError`: no notification URL set in App Store Connect for this environment.
  public static let serverNotificationUrlNotFound = APIErrorCode(rawValue: 4040007)
  /// `TestNotificationNotFoundError`: no status of that test notification: not yet right after the request, or no
  /// longer after six months.
  public static let testNotificationNotFound = APIErrorCode(rawValue: 4040008)
  /// `StatusRequestNotFoundError`: no mass extension for this productId + requestIdentifier.
  public static let statusRequestNotFound = APIErrorCode(rawValue: 4040009)
  /// `TransactionIdNotFoundError`: no such transaction for this app and environment.
  public static let transactionIdNotFound = APIErrorCode(rawValue: 4040010)
  /// `AppTransactionDoesNotExistError`: customer has no app transaction.
  public static let appTransactionDoesNotExist = APIErrorCode(rawValue: 4040019)
  /// `RateLimitExceededError`: the hourly limit is used up; wait until Retry-After.
  public static let rateLimitExceeded = APIErrorCode(rawValue: 4290000)
  /// `GeneralInternalError`: internal error at Apple.
  public static let generalInternal = APIErrorCode(rawValue: 5000000)
  /// `GeneralInternalRetryableError`: internal error at Apple that another try may not meet.
  public static let generalInternalRetryable = APIErrorCode(rawValue: 5000001)
  /// `InvalidImageError`: uploaded image not acceptable.
  public static let invalidImage = APIErrorCode(rawValue: 4000161)
  /// `HeaderTooLongError`: header text over the limit.
  public static let headerTooLong = APIErrorCode(rawValue: 4000162)
  /// `BodyTooLongError`: body text over the limit.
  public static let bodyTooLong = APIErrorCode(rawValue: 4000163)
  /// `InvalidLocaleError`: locale not valid.
  public static let invalidLocale = APIErrorCode(rawValue: 4000164)
  /// `AltTextTooLongError`: image alternative text over the limit.
  public static let altTextTooLong = APIErrorCode(rawValue: 4000175)
  /// `InvalidPerformanceTestRequestError`: performance test request not valid.
  public static let invalidPerformanceTestRequest = APIErrorCode(rawValue: 4000211)
  /// `InvalidRequestIdError`: performance test id not valid.
  public static let invalidRequestId = APIErrorCode(rawValue: 4000212)
  /// `ExistingPerformanceTestRunError`: a performance test is already there.
  public static let existingPerformanceTestRun = APIErrorCode(rawValue: 4000213)
  /// `BadRequestRealtimeUrlError`: realtime URL not valid.
  public static let badRequestRealtimeUrl = APIErrorCode(rawValue: 4000215)
  /// `BadRequestImageSizeError`: imageSize not valid.
  public static let badRequestImageSize = APIErrorCode(rawValue: 4000216)
  /// `BadRequestTooManyBulletPointsError`: too many bullet points.
  public static let badRequestTooManyBulletPoints = APIErrorCode(rawValue: 4000218)
  /// `BadRequestBulletPointTextTooLongError`: bullet point text over the limit.
  public static let badRequestBulletPointTextTooLong = APIErrorCode(rawValue: 4000219)
  /// `BadRequestAboveImageRequiresAnImageError`: header position ABOVE_IMAGE without an image.
  public static let badRequestAboveImageRequiresAnImage = APIErrorCode(rawValue: 4000224)
  /// `MaximumNumberOfImagesReachedError`: image quota used up.
  public static let maximumNumberOfImagesReached = APIErrorCode(rawValue: 4030014)
  /// `MaximumNumberOfMessagesReachedError`: message quota used up.
  public static let maximumNumberOfMessagesReached = APIErrorCode(rawValue: 4030016)
  /// `MessageNotApprovedError`: message not approved yet.
  public static let messageNotApproved = APIErrorCode(rawValue: 4030017)
  /// `ImageNotApprovedError`: image not approved yet.
  public static let imageNotApproved = APIErrorCode(rawValue: 4030018)
  /// `ImageInUseError`: image used by a message.
  public static let imageInUse = APIErrorCode(rawValue: 4030019)
  /// `ForbiddenNoPassingTestError`: production realtime URL needs a passed performance test.
  public static let forbiddenNoPassingTest = APIErrorCode(rawValue: 4030026)
  /// `ImageNotFoundError`: no such image.
  public static let imageNotFound = APIErrorCode(rawValue: 4040014)
  /// `MessageNotFoundError`: no such message.
  public static let messageNotFound = APIErrorCode(rawValue: 4040015)
  /// `PerformanceTestRunNotFoundError`: no such performance test.
  public static let performanceTestRunNotFound = APIErrorCode(rawValue: 4040018)
  /// `DefaultMessageNotFoundError`: no default message set.
  public static let defaultMessageNotFound = APIErrorCode(rawValue: 4040020)
  /// `RealtimeUrlNotFoundError`: no realtime URL set.
  public static let realtimeUrlNotFound = APIErrorCode(rawValue: 4040021)
  /// `ImageAlreadyExistsError`: image id already used.
  public static let imageAlreadyExists = APIErrorCode(rawValue: 4090000)
  /// `MessageAlreadyExistsError`: message id already used.
  public static let messageAlreadyExists = APIErrorCode(rawValue: 4090001)

  /// The name, class and meaning of each code.
  static let facts: [Facts] = [
    Facts(
      .generalBadRequest, "GeneralBadRequestError", .never,
      "request malformed or syntactically wrong"),
    Facts(
      .invalidAppIdentifier, "InvalidAppIdentifierError", .configuration,
      "app identifier (usually the JWT's bid claim) not acceptable"),
    Facts(
      .invalidRequestRevision, "InvalidRequestRevisionError", .never,
      "revision query token not valid"),
    Facts(
      .invalidTransactionId, "InvalidTransactionIdError", .never,
      "transaction id not well-formed"),
    Facts(
      .invalidOriginalTransactionId, "InvalidOriginalTransactionIdError", .never,
      "original transaction id not well-formed"),
    Facts(
      .invalidExtendByDays, "InvalidExtendByDaysError", .never,
      "extendByDays outside 1..90"),
    Facts(
      .invalidExtendReasonCode, "InvalidExtendReasonCodeError", .never,
      "extendReasonCode not in 0..3"),
    Facts(
      .invalidRequestIdentifier, "InvalidRequestIdentifierError", .never,
      "requestIdentifier not valid (must be a UUID for the mass endpoints, at most 128 chars otherwise)"),
    Facts(
      .startDateTooFarInPast, "StartDateTooFarInPastError", .never,
      "startDate older than the 180-day (sandbox 30-day) window"),
    Facts(
      .startDateAfterEndDate, "StartDateAfterEndDateError", .never,
      "endDate not later than startDate"),
    Facts(
      .invalidPaginationToken, "InvalidPaginationTokenError", .never,
      "paginationToken not valid"),
    Facts(
      .invalidStartDate, "InvalidStartDateError", .never,
      "startDate not valid"),
    Facts(
      .invalidEndDate, "InvalidEndDateError", .never,
      "endDate not valid"),
    Facts(
      .paginationTokenExpired, "PaginationTokenExpiredError", .never,
      "paginationToken too old, or used with another body; start again at the first page"),
    Facts(
      .invalidNotificationType, "InvalidNotificationTypeError", .never,
      "notificationType/subtype unknown or not a valid pair"),
    Facts(
      .multipleFiltersSupplied, "MultipleFiltersSuppliedError", .never,
      "mutually exclusive filters sent together"),
    Facts(
      .invalidTestNotificationToken, "InvalidTestNotificationTokenError", .never,
      "test notification token not valid"),
    Facts(
      .invalidSort, "InvalidSortError", .never,
      "sort not ASCENDING/DESCENDING"),
    Facts(
      .invalidProductType, "InvalidProductTypeError", .never,
      "productType filter not valid"),
    Facts(
      .invalidProductId, "InvalidProductIdError", .never,
      "productId not valid"),
    Facts(
      .invalidSubscriptionGroupIdentifier, "InvalidSubscriptionGroupIdentifierError", .never,
      "subscriptionGroupIdentifier filter not valid"),
    Facts(
      .invalidExcludeRevoked, "InvalidExcludeRevokedError", .never,
      "excludeRevoked filter not valid (deprecated filter)"),
    Facts(
      .invalidInAppOwnershipType, "InvalidInAppOwnershipTypeError", .never,
      "inAppOwnershipType filter not valid"),
    Facts(
      .invalidEmptyStorefrontCountryCodeList, "InvalidEmptyStorefrontCountryCodeListError", .never,
      "storefrontCountryCodes present but empty; leave it out instead"),
    Facts(
      .invalidStorefrontCountryCode, "InvalidStorefrontCountryCodeError", .never,
      "a storefront code is not a known alpha-3 code"),
    Facts(
      .invalidRevoked, "InvalidRevokedError", .never,
      "revoked filter not true/false"),
    Facts(
      .invalidStatus, "InvalidStatusError", .never,
      "status filter not 1..5"),
    Facts(
      .invalidAccountTenure, "InvalidAccountTenureError", .never,
      "accountTenure outside its enum"),
    Facts(
      .invalidAppAccountToken, "InvalidAppAccountTokenError", .never,
      "appAccountToken neither a UUID nor the empty string"),
    Facts(
      .invalidConsumptionStatus, "InvalidConsumptionStatusError", .never,
      "consumptionStatus outside its enum"),
    Facts(
      .invalidCustomerConsented, "InvalidCustomerConsentedError", .never,
      "customerConsented missing or not true"),
    Facts(
      .invalidDeliveryStatus, "InvalidDeliveryStatusError", .never,
      "deliveryStatus outside its enum (a number for V1, a string for V2)"),
    Facts(
      .invalidLifetimeDollarsPurchased, "InvalidLifetimeDollarsPurchasedError", .never,
      "lifetimeDollarsPurchased outside its enum"),
    Facts(
      .invalidLifetimeDollarsRefunded, "InvalidLifetimeDollarsRefundedError", .never,
      "lifetimeDollarsRefunded outside its enum"),
    Facts(
      .invalidPlatform, "InvalidPlatformError", .never,
      "platform outside its enum"),
    Facts(
      .invalidPlayTime, "InvalidPlayTimeError", .never,
      "playTime outside its enum"),
    Facts(
      .invalidSampleContentProvided, "InvalidSampleContentProvidedError", .never,
      "sampleContentProvided not a boolean"),
    Facts(
      .invalidUserStatus, "InvalidUserStatusError", .never,
      "userStatus outside its enum"),
    Facts(
      .invalidTransactionNotConsumable, "InvalidTransactionNotConsumableError", .never,
      "transaction is not a consumable; no longer sent"),
    Facts(
      .invalidTransactionTypeNotSupported, "InvalidTransactionTypeNotSupportedError", .never,
      "product type of the transaction not supported by the endpoint"),
    Facts(
      .appTransactionIdNotSupported, "AppTransactionIdNotSupportedError", .never,
      "endpoint does not take an appTransactionId"),
    Facts(
      .invalidAppAccountTokenUUID, "InvalidAppAccountTokenUUIDError", .never,
      "appAccountToken is not a UUID"),
    Facts(
      .familyTransactionNotSupported, "FamilyTransactionNotSupportedError", .never,
      "transaction came through Family Sharing"),
    Facts(
      .transactionIdNotOriginalTransactionId, "TransactionIdIsNotOriginalTransactionIdError", .never,
      "a transaction id was given where an original transaction id is needed"),
    Facts(
      .subscriptionExtensionIneligible, "SubscriptionExtensionIneligibleError", .never,
      "the subscription cannot be extended: free offer, billing retry, expired, or twice in 365 days"),
    Facts(
      .subscriptionMaxExtension, "SubscriptionMaxExtensionError", .never,
      "subscription already had its maximum number of extensions"),
    Facts(
      .familySharedSubscriptionExtensionIneligible, "FamilySharedSubscriptionExtensionIneligibleError", .never,
      "subscription reached through Family Sharing; extend the purchaser's instead"),
    Facts(
      .accountNotFound, "AccountNotFoundError", .never,
      "no such App Store account"),
    Facts(
      .accountNotFoundRetryable, "AccountNotFoundRetryableError", .retryNow,
      "account not found for now"),
    Facts(
      .appNotFound, "AppNotFoundError", .configuration,
      "no such app for the bid claim"),
    Facts(
      .appNotFoundRetryable, "AppNotFoundRetryableError", .retryNow,
      "app not found for now"),
    Facts(
      .originalTransactionIdNotFound, "OriginalTransactionIdNotFoundError", .never,
      "no such original transaction for this app and environment"),
    Facts(
      .originalTransactionIdNotFoundRetryable, "OriginalTransactionIdNotFoundRetryableError", .retryLater,
      "original transaction not found for now"),
    Facts(
      .serverNotificationUrlNotFound, "ServerNotificationURLNotFoundError", .configuration,
      "no notification URL set in App Store Connect for this environment"),
    Facts(
      .testNotificationNotFound, "TestNotificationNotFoundError", .retryLater,
      "no status of that test notification: not yet right after the request, or no longer after six months"),
    Facts(
      .statusRequestNotFound, "StatusRequestNotFoundError", .never,
      "no mass extension for this productId + requestIdentifier"),
    Facts(
      .transactionIdNotFound, "TransactionIdNotFoundError", .never,
      "no such transaction for this app and environment"),
    Facts(
      .appTransactionDoesNotExist, "AppTransactionDoesNotExistError", .never,
      "customer has no app transaction"),
    Facts(
      .rateLimitExceeded, "RateLimitExceededError", .retryLater,
      "the hourly limit is used up; wait until Retry-After"),
    Facts(
      .generalInternal, "GeneralInternalError", .retryLater,
      "internal error at Apple"),
    Facts(
      .generalInternalRetryable, "GeneralInternalRetryableError", .retryNow,
      "internal error at Apple that another try may not meet"),
    Facts(
      .invalidImage, "InvalidImageError", .never,
      "uploaded image not acceptable"),
    Facts(
      .headerTooLong, "HeaderTooLongError", .never,
      "header text over the limit"),
    Facts(
      .bodyTooLong, "BodyTooLongError", .never,
      "body text over the limit"),
    Facts(
      .invalidLocale, "InvalidLocaleError", .never,
      "locale not valid"),
    Facts(
      .altTextTooLong, "AltTextTooLongError", .never,
      "image alternative text over the limit"),
    Facts(
      .invalidPerformanceTestRequest, "InvalidPerformanceTestRequestError", .never,
      "performance test request not valid"),
    Facts(
      .invalidRequestId, "InvalidRequestIdError", .never,
      "performance test id not valid"),
    Facts(
      .existingPerformanceTestRun, "ExistingPerformanceTestRunError", .never,
      "a performance test is already there"),
    Facts(
      .badRequestRealtimeUrl, "BadRequestRealtimeUrlError", .never,
      "realtime URL not valid"),
    Facts(
      .badRequestImageSize, "BadRequestImageSizeError", .never,
      "imageSize not valid"),
    Facts(
      .badRequestTooManyBulletPoints, "BadRequestTooManyBulletPointsError", .never,
      "too many bullet points"),
    Facts(
      .badRequestBulletPointTextTooLong, "BadRequestBulletPointTextTooLongError", .never,
      "bullet point text over the limit"),
    Facts(
      .badRequestAboveImageRequiresAnImage, "BadRequestAboveImageRequiresAnImageError", .never,
      "header position ABOVE_IMAGE without an image"),
    Facts(
      .maximumNumberOfImagesReached, "MaximumNumberOfImagesReachedError", .configuration,
      "image quota used up"),
    Facts(
      .maximumNumberOfMessagesReached, "MaximumNumberOfMessagesReachedError", .configuration,
      "message quota used up"),
    Facts(
      .messageNotApproved, "MessageNotApprovedError", .configuration,
      "message not approved yet"),
    Facts(
      .imageNotApproved, "ImageNotApprovedError", .configuration,
      "image not approved yet"),
    Facts(
      .imageInUse, "ImageInUseError", .never,
      "image used by a message"),
    Facts(
      .forbiddenNoPassingTest, "ForbiddenNoPassingTestError", .configuration,
      "production realtime URL needs a passed performance test"),
    Facts(
      .imageNotFound, "ImageNotFoundError", .never,
      "no such image"),
    Facts(
      .messageNotFound, "MessageNotFoundError", .never,
      "no such message"),
    Facts(
      .performanceTestRunNotFound, "PerformanceTestRunNotFoundError", .never,
      "no such performance test"),
    Facts(
      .defaultMessageNotFound, "DefaultMessageNotFoundError", .never,
      "no default message set"),
    Facts(
      .realtimeUrlNotFound, "RealtimeUrlNotFoundError", .never,
      "no realtime URL set"),
    Facts(
      .imageAlreadyExists, "ImageAlreadyExistsError", .never,
      "image id already used"),
    Facts(
      .messageAlreadyExists, "MessageAlreadyExistsError", .never,
      "message id already used"),
  ]
}
