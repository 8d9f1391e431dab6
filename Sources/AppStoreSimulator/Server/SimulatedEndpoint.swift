// The endpoints of the App Store Server API and the Retention Messaging API, with Apple's names, paths and limits. They
// are deliberately not shared with the client: the simulator checks the client's paths and request rates against its
// own copy.

internal import HTTPTypes

/// An endpoint of the App Store Server API.
///
/// The raw value is its name in settings, faults and reports.
package enum SimulatedEndpoint: String, Sendable, Hashable, CaseIterable {
  /// Get Transaction Info.
  case getTransactionInfo
  /// Get Transaction History, V2.
  case getTransactionHistory
  /// Get Transaction History V1, deprecated.
  case getTransactionHistoryV1
  /// Get All Subscription Statuses.
  case getAllSubscriptionStatuses
  /// Get App Transaction Info.
  case getAppTransactionInfo
  /// Set App Account Token.
  case setAppAccountToken
  /// Look Up Order ID; production only.
  case lookUpOrderId
  /// Send Consumption Information, V2.
  case sendConsumptionInformation
  /// Send Consumption Information V1, deprecated.
  case sendConsumptionInformationV1
  /// Get Refund History, V2.
  case getRefundHistory
  /// Get Refund History V1, deprecated.
  case getRefundHistoryV1
  /// Extend a Subscription Renewal Date.
  case extendSubscriptionRenewalDate
  /// Extend Subscription Renewal Dates for All Active Subscribers.
  case massExtendRenewalDate
  /// Get Status of Subscription Renewal Date Extensions.
  case getMassExtendStatus
  /// Get Notification History.
  case getNotificationHistory
  /// Request a Test Notification.
  case requestTestNotification
  /// Get Test Notification Status.
  case getTestNotificationStatus
  /// Finish Transaction, which Apple's libraries support but its documentation omits.
  case finishTransaction
  /// Upload Image of the Retention Messaging API.
  case uploadImage
  /// Delete Image of the Retention Messaging API.
  case deleteImage
  /// Get Image List of the Retention Messaging API.
  case getImageList
  /// Upload Message of the Retention Messaging API.
  case uploadMessage
  /// Delete Message of the Retention Messaging API.
  case deleteMessage
  /// Get Message List of the Retention Messaging API.
  case getMessageList
  /// Configure Default Message of the Retention Messaging API.
  case configureDefaultMessage
  /// Delete Default Message of the Retention Messaging API.
  case deleteDefaultMessage
  /// Get Default Message of the Retention Messaging API.
  case getDefaultMessage
  /// Configure Realtime URL of the Retention Messaging API.
  case configureRealtimeURL
  /// Delete Realtime URL of the Retention Messaging API.
  case deleteRealtimeURL
  /// Get Realtime URL of the Retention Messaging API.
  case getRealtimeURL
  /// Initiate Performance Test of the Retention Messaging API; sandbox only.
  case initiatePerformanceTest
  /// Get Performance Test Results of the Retention Messaging API.
  case getPerformanceTestResults

  /// Apple's documented limit in requests per second for production; nil if Apple documents none.
  ///
  /// See "Identifying rate limits". The sandbox allows a tenth.
  package var documentedPerSecond: Double? {
    switch self {
    case .getTransactionInfo, .getTransactionHistory, .getTransactionHistoryV1, .getAllSubscriptionStatuses,
      .getAppTransactionInfo, .sendConsumptionInformation, .sendConsumptionInformationV1, .getNotificationHistory:
      50
    case .extendSubscriptionRenewalDate, .setAppAccountToken: 20
    case .lookUpOrderId, .getRefundHistory, .getRefundHistoryV1: 10
    case .massExtendRenewalDate, .requestTestNotification, .getTestNotificationStatus: 1
    case .getMassExtendStatus, .finishTransaction: nil
    case .uploadImage, .deleteImage, .getImageList, .uploadMessage, .deleteMessage, .getMessageList,
      .configureDefaultMessage, .deleteDefaultMessage, .getDefaultMessage, .configureRealtimeURL, .deleteRealtimeURL,
      .getRealtimeURL, .initiatePerformanceTest, .getPerformanceTestResults:
      nil
    }
  }

  /// The documented path. A segment in braces is a parameter.
  var path: String {
    switch self {
    case .getTransactionInfo: "/inApps/v1/transactions/{transactionId}"
    case .getTransactionHistory: "/inApps/v2/history/{anyTransactionId}"
    case .getTransactionHistoryV1: "/inApps/v1/history/{anyTransactionId}"
    case .getAllSubscriptionStatuses: "/inApps/v1/subscriptions/{anyTransactionId}"
    case .getAppTransactionInfo: "/inApps/v1/transactions/appTransactions/{anyTransactionId}"
    case .setAppAccountToken: "/inApps/v1/transactions/{originalTransactionId}/appAccountToken"
    case .lookUpOrderId: "/inApps/v1/lookup/{orderId}"
    case .sendConsumptionInformation: "/inApps/v2/transactions/consumption/{transactionId}"
    case .sendConsumptionInformationV1: "/inApps/v1/transactions/consumption/{transactionId}"
    case .getRefundHistory: "/inApps/v2/refund/lookup/{anyTransactionId}"
    case .getRefundHistoryV1: "/inApps/v1/refund/lookup/{originalTransactionId}"
    case .extendSubscriptionRenewalDate: "/inApps/v1/subscriptions/extend/{originalTransactionId}"
    case .massExtendRenewalDate: "/inApps/v1/subscriptions/extend/mass"
    case .getMassExtendStatus: "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}"
    case .getNotificationHistory: "/inApps/v1/notifications/history"
    case .requestTestNotification: "/inApps/v1/notifications/test"
    case .getTestNotificationStatus: "/inApps/v1/notifications/test/{testNotificationToken}"
    case .finishTransaction: "/inApps/v1/transactions/{transactionId}/finish"
    case .uploadImage: "/inApps/v1/messaging/image/{imageIdentifier}"
    case .deleteImage: "/inApps/v1/messaging/image/{imageIdentifier}"
    case .getImageList: "/inApps/v1/messaging/image/list"
    case .uploadMessage: "/inApps/v1/messaging/message/{messageIdentifier}"
    case .deleteMessage: "/inApps/v1/messaging/message/{messageIdentifier}"
    case .getMessageList: "/inApps/v1/messaging/message/list"
    case .configureDefaultMessage: "/inApps/v1/messaging/default/{productId}/{locale}"
    case .deleteDefaultMessage: "/inApps/v1/messaging/default/{productId}/{locale}"
    case .getDefaultMessage: "/inApps/v1/messaging/default/{productId}/{locale}"
    case .configureRealtimeURL: "/inApps/v1/messaging/realtime/url"
    case .deleteRealtimeURL: "/inApps/v1/messaging/realtime/url"
    case .getRealtimeURL: "/inApps/v1/messaging/realtime/url"
    case .initiatePerformanceTest: "/inApps/v1/messaging/performanceTest"
    case .getPerformanceTestResults: "/inApps/v1/messaging/performanceTest/result/{requestId}"
    }
  }

  var method: HTTPRequest.Method {
    switch self {
    case .setAppAccountToken, .sendConsumptionInformation, .sendConsumptionInformationV1,
      .extendSubscriptionRenewalDate, .uploadImage, .uploadMessage, .configureDefaultMessage, .configureRealtimeURL:
      .put
    case .massExtendRenewalDate, .getNotificationHistory, .requestTestNotification, .finishTransaction,
      .initiatePerformanceTest:
      .post
    case .deleteImage, .deleteMessage, .deleteDefaultMessage, .deleteRealtimeURL: .delete
    default: .get
    }
  }

  /// Whether a call changes state at Apple, so a caller must not repeat it without care.
  var hasEffect: Bool {
    switch self {
    case .setAppAccountToken, .sendConsumptionInformation, .sendConsumptionInformationV1,
      .extendSubscriptionRenewalDate, .massExtendRenewalDate, .finishTransaction:
      true
    default: false
    }
  }
}
