// The endpoints of the App Store Server API and their properties.

/// An endpoint of the App Store Server API. Raw values are stable: they name budgets on the wire and in metrics.
public enum APIEndpoint: String, Sendable, Hashable, Codable, CaseIterable {
  /// Get App Transaction Info.
  case getAppTransactionInfo
  /// Get Transaction Info.
  case getTransactionInfo
  /// Get Transaction History.
  case getTransactionHistory
  /// Get Transaction History V1, deprecated: it omits finished consumables.
  case getTransactionHistoryV1
  /// Get All Subscription Statuses.
  case getAllSubscriptionStatuses
  /// Set App Account Token.
  case setAppAccountToken
  /// Look Up Order ID.
  case lookUpOrderId
  /// Send Consumption Information.
  case sendConsumptionInformation
  /// Send Consumption Information V1, deprecated.
  case sendConsumptionInformationV1
  /// Get Refund History.
  case getRefundHistory
  /// Get Refund History V1, deprecated: at most 50 refunds and no pages.
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
  /// Finish Transaction, which is in Apple's libraries but not yet in its documentation.
  case finishTransaction
}

extension APIEndpoint {
  /// An HTTP method.
  public enum Method: String, Sendable, Hashable {
    /// Reads data.
    case get = "GET"
    /// Sends a body that triggers an action or describes a query.
    case post = "POST"
    /// Sets a value.
    case put = "PUT"
  }

  /// The HTTP method of the endpoint.
  public var method: Method {
    switch self {
    case .setAppAccountToken, .sendConsumptionInformation, .sendConsumptionInformationV1,
      .extendSubscriptionRenewalDate:
      .put
    case .massExtendRenewalDate, .getNotificationHistory, .requestTestNotification, .finishTransaction: .post
    case .getAppTransactionInfo, .getTransactionInfo, .getTransactionHistory, .getTransactionHistoryV1,
      .getAllSubscriptionStatuses, .lookUpOrderId, .getRefundHistory, .getRefundHistoryV1, .getMassExtendStatus,
      .getTestNotificationStatus:
      .get
    }
  }

  /// Whether a call changes anything at Apple. Get Notification History is a POST request but changes nothing.
  public var hasEffect: Bool { method != .get && self != .getNotificationHistory }

  /// The URL of Apple's documentation for the endpoint.
  public var documentation: String { "https://developer.apple.com/documentation/appstoreserverapi/\(pageName)" }

  private var pageName: String {
    switch self {
    case .getAppTransactionInfo: "get-app-transaction-info"
    case .getTransactionInfo: "get-transaction-info"
    case .getTransactionHistory: "get-transaction-history"
    case .getTransactionHistoryV1: "get-transaction-history-v1"
    case .getAllSubscriptionStatuses: "get-all-subscription-statuses"
    case .setAppAccountToken: "set-app-account-token"
    case .lookUpOrderId: "look-up-order-id"
    case .sendConsumptionInformation: "send-consumption-information"
    case .sendConsumptionInformationV1: "send-consumption-information-v1"
    case .getRefundHistory: "get-refund-history"
    case .getRefundHistoryV1: "get-refund-history-v1"
    case .extendSubscriptionRenewalDate: "extend-a-subscription-renewal-date"
    case .massExtendRenewalDate: "extend-subscription-renewal-dates-for-all-active-subscribers"
    case .getMassExtendStatus: "get-status-of-subscription-renewal-date-extensions"
    case .getNotificationHistory: "get-notification-history"
    case .requestTestNotification: "request-a-test-notification"
    case .getTestNotificationStatus: "get-test-notification-status"
    case .finishTransaction: "finish-transaction"
    }
  }
}
