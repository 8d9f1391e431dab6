import AppStore
import TestEnvironment
import Testing

@testable import AppStoreSimulator

@Suite struct APIFailureTests {
  static let numbered: [APIFailure] = [
    .badRequest, .invalidAppIdentifier, .invalidRevision, .invalidTransactionId, .invalidOriginalTransactionId,
    .invalidExtendByDays, .invalidExtendReasonCode, .invalidRequestIdentifier, .startDateTooFarInPast,
    .startDateAfterEndDate, .invalidPaginationToken, .invalidStartDate, .invalidEndDate, .paginationTokenExpired,
    .invalidNotificationType, .multipleFiltersSupplied, .invalidTestNotificationToken, .invalidSort,
    .invalidProductType, .invalidProductId, .invalidSubscriptionGroupIdentifier, .invalidExcludeRevoked,
    .invalidInAppOwnershipType, .invalidEmptyStorefrontCountryCodeList, .invalidStorefrontCountryCode,
    .invalidRevoked, .invalidStatus, .invalidAccountTenure, .invalidAppAccountToken, .invalidConsumptionStatus,
    .invalidCustomerConsented, .invalidDeliveryStatus, .invalidLifetimeDollarsPurchased,
    .invalidLifetimeDollarsRefunded, .invalidPlatform, .invalidPlayTime, .invalidSampleContentProvided,
    .invalidUserStatus, .appTransactionIdNotSupported, .invalidAppAccountTokenUUID, .familyTransactionNotSupported,
    .transactionIdIsNotOriginalTransactionId, .subscriptionExtensionIneligible, .subscriptionMaxExtension,
    .familySharedSubscriptionExtensionIneligible, .appNotFound, .originalTransactionIdNotFound,
    .serverNotificationURLNotFound, .testNotificationNotFound, .statusRequestNotFound, .transactionIdNotFound,
    .appTransactionDoesNotExist, .rateLimitExceeded, .generalInternal, .invalidImage, .headerTooLong, .bodyTooLong,
    .invalidLocale, .altTextTooLong, .invalidPerformanceTestRequest, .invalidRequestId, .existingPerformanceTestRun,
    .badRequestRealtimeURL, .badRequestImageSize, .tooManyBulletPoints, .bulletPointTextTooLong,
    .aboveImageRequiresAnImage, .maximumNumberOfImagesReached, .maximumNumberOfMessagesReached, .messageNotApproved,
    .imageNotApproved, .imageInUse, .noPassingTest, .imageNotFound, .messageNotFound, .performanceTestRunNotFound,
    .defaultMessageNotFound, .realtimeURLNotFound, .imageAlreadyExists, .messageAlreadyExists,
  ]

  @Test func `the body is Apple's error object without additions`() {
    #expect(
      String(decoding: APIFailure.transactionIdNotFound.body, as: UTF8.self)
        == #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#)
    #expect(APIFailure.transactionIdNotFound.status == 404)
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "../shared is absent"))
  func `every numbered error is one of Apple's, with its status`() throws {
    guard case .array(let items) = try SharedMaterial.json("app-store-facts/error-codes.json")["errors"] else {
      Issue.record("error-codes.json has no errors")
      return
    }
    var statuses: [Int64: Int64] = [:]
    for case .object(let item) in items {
      if case .integer(let code) = item["code"], case .integer(let status) = item["httpStatus"] {
        statuses[code] = status
      }
    }
    for failure in Self.numbered { #expect(statuses[failure.code] == Int64(failure.status), "\(failure)") }
    #expect(Set(Self.numbered.map(\.code)).count == Self.numbered.count)
  }

  @Test func `errors without a number of Apple have numbers that Apple does not use`() {
    let own: [APIFailure] = [
      .invalidRefundPreference, .consumptionPercentageOutOfRange, .consumptionPercentageAutoRenewableSubscription,
      .undeliveredConsumptionPercentageNonZero,
    ]
    #expect(Set(own.map(\.code)).isDisjoint(with: Self.numbered.map(\.code)))
    #expect(own.allSatisfy { $0.status == 400 })
  }
}
