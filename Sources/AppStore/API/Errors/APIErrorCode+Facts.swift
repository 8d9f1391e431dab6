// The name, class and meaning of each error code. Classes that are not obvious are explained.

extension APIErrorCode {
  /// The codes of the App Store Server API, in numerical order.
  ///
  /// The documented retryable errors are lookups that failed temporarily. For an original transaction identifier, the
  /// transaction may also be too new, which takes longer. A plain internal error has lasted ten minutes in production.
  /// The status of a test notification is not available immediately. A transaction that is not found stays so for the
  /// same request; only the caller knows whether it belongs to the other environment or is too new.
  static let serverAPIFacts: [Facts] = [
    Facts(.generalBadRequest, "GeneralBadRequestError", .never, "request malformed or syntactically wrong"),
    Facts(
      .invalidAppIdentifier, "InvalidAppIdentifierError", .configuration,
      "app identifier (usually the JWT's bid claim) not acceptable"),
    Facts(.invalidRequestRevision, "InvalidRequestRevisionError", .never, "revision query token not valid"),
    Facts(.invalidTransactionId, "InvalidTransactionIdError", .never, "transaction id not well-formed"),
    Facts(
      .invalidOriginalTransactionId, "InvalidOriginalTransactionIdError", .never,
      "original transaction id not well-formed"),
    Facts(.invalidExtendByDays, "InvalidExtendByDaysError", .never, "extendByDays outside 1..90"),
    Facts(.invalidExtendReasonCode, "InvalidExtendReasonCodeError", .never, "extendReasonCode not in 0..3"),
    Facts(
      .invalidRequestIdentifier, "InvalidRequestIdentifierError", .never,
      "requestIdentifier not valid (must be a UUID for the mass endpoints, at most 128 chars otherwise)"),
    Facts(
      .startDateTooFarInPast, "StartDateTooFarInPastError", .never,
      "startDate older than the 180-day (sandbox 30-day) window"),
    Facts(.startDateAfterEndDate, "StartDateAfterEndDateError", .never, "endDate not later than startDate"),
    Facts(.invalidPaginationToken, "InvalidPaginationTokenError", .never, "paginationToken not valid"),
    Facts(.invalidStartDate, "InvalidStartDateError", .never, "startDate not valid"),
    Facts(.invalidEndDate, "InvalidEndDateError", .never, "endDate not valid"),
    Facts(
      .paginationTokenExpired, "PaginationTokenExpiredError", .never,
      "paginationToken too old, or used with another body; start again at the first page"),
    Facts(
      .invalidNotificationType, "InvalidNotificationTypeError", .never,
      "notificationType/subtype unknown or not a valid pair"),
    Facts(.multipleFiltersSupplied, "MultipleFiltersSuppliedError", .never, "mutually exclusive filters sent together"),
    Facts(
      .invalidTestNotificationToken, "InvalidTestNotificationTokenError", .never,
      "test notification token not valid"),
    Facts(.invalidSort, "InvalidSortError", .never, "sort not ASCENDING/DESCENDING"),
    Facts(.invalidProductType, "InvalidProductTypeError", .never, "productType filter not valid"),
    Facts(.invalidProductId, "InvalidProductIdError", .never, "productId not valid"),
    Facts(
      .invalidSubscriptionGroupIdentifier, "InvalidSubscriptionGroupIdentifierError", .never,
      "subscriptionGroupIdentifier filter not valid"),
    Facts(
      .invalidExcludeRevoked, "InvalidExcludeRevokedError", .never,
      "excludeRevoked filter not valid (deprecated filter)"),
    Facts(.invalidInAppOwnershipType, "InvalidInAppOwnershipTypeError", .never, "inAppOwnershipType filter not valid"),
    Facts(
      .invalidEmptyStorefrontCountryCodeList, "InvalidEmptyStorefrontCountryCodeListError", .never,
      "storefrontCountryCodes present but empty; leave it out instead"),
    Facts(
      .invalidStorefrontCountryCode, "InvalidStorefrontCountryCodeError", .never,
      "a storefront code is not a known alpha-3 code"),
    Facts(.invalidRevoked, "InvalidRevokedError", .never, "revoked filter not true/false"),
    Facts(.invalidStatus, "InvalidStatusError", .never, "status filter not 1..5"),
    Facts(.invalidAccountTenure, "InvalidAccountTenureError", .never, "accountTenure outside its enum"),
    Facts(
      .invalidAppAccountToken, "InvalidAppAccountTokenError", .never,
      "appAccountToken neither a UUID nor the empty string"),
    Facts(.invalidConsumptionStatus, "InvalidConsumptionStatusError", .never, "consumptionStatus outside its enum"),
    Facts(.invalidCustomerConsented, "InvalidCustomerConsentedError", .never, "customerConsented missing or not true"),
    Facts(
      .invalidDeliveryStatus, "InvalidDeliveryStatusError", .never,
      "deliveryStatus outside its enum (a number for V1, a string for V2)"),
    Facts(
      .invalidLifetimeDollarsPurchased, "InvalidLifetimeDollarsPurchasedError", .never,
      "lifetimeDollarsPurchased outside its enum"),
    Facts(
      .invalidLifetimeDollarsRefunded, "InvalidLifetimeDollarsRefundedError", .never,
      "lifetimeDollarsRefunded outside its enum"),
    Facts(.invalidPlatform, "InvalidPlatformError", .never, "platform outside its enum"),
    Facts(.invalidPlayTime, "InvalidPlayTimeError", .never, "playTime outside its enum"),
    Facts(
      .invalidSampleContentProvided, "InvalidSampleContentProvidedError", .never,
      "sampleContentProvided not a boolean"),
    Facts(.invalidUserStatus, "InvalidUserStatusError", .never, "userStatus outside its enum"),
    Facts(
      .invalidTransactionNotConsumable, "InvalidTransactionNotConsumableError", .never,
      "transaction is not a consumable; no longer sent"),
    Facts(
      .invalidTransactionTypeNotSupported, "InvalidTransactionTypeNotSupportedError", .never,
      "product type of the transaction not supported by the endpoint"),
    Facts(
      .appTransactionIdNotSupported, "AppTransactionIdNotSupportedError", .never,
      "endpoint does not take an appTransactionId"),
    Facts(.invalidAppAccountTokenUUID, "InvalidAppAccountTokenUUIDError", .never, "appAccountToken is not a UUID"),
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
    Facts(.accountNotFound, "AccountNotFoundError", .never, "no such App Store account"),
    Facts(.accountNotFoundRetryable, "AccountNotFoundRetryableError", .retryNow, "account not found for now"),
    Facts(.appNotFound, "AppNotFoundError", .configuration, "no such app for the bid claim"),
    Facts(.appNotFoundRetryable, "AppNotFoundRetryableError", .retryNow, "app not found for now"),
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
    Facts(.appTransactionDoesNotExist, "AppTransactionDoesNotExistError", .never, "customer has no app transaction"),
    Facts(
      .rateLimitExceeded, "RateLimitExceededError", .retryLater,
      "the hourly limit is used up; wait until Retry-After"),
    Facts(.generalInternal, "GeneralInternalError", .retryLater, "internal error at Apple"),
    Facts(
      .generalInternalRetryable, "GeneralInternalRetryableError", .retryNow,
      "internal error at Apple that another try may not meet"),
  ]
}
