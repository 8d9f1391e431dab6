// Written from Sources/AppStore/Fields/Responses.md by `scripts/check types --write`.

/// The body of an error response (App Store Server API, Error codes). Some errors have no such body: HTTP 401, and the
/// responses of edge servers.
public struct APIErrorBody: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The error code.
  public var errorCode: APIErrorCode? {
    get { self["errorCode"] }
    set { self["errorCode"] = newValue }
  }

  /// The error message, for people.
  public var errorMessage: String? {
    get { self["errorMessage"] }
    set { self["errorMessage"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("errorCode", \.errorCode),
    DocumentedField("errorMessage", \.errorMessage),
  ]
}

/// The response of Get App Transaction Info (App Store Server API, `AppTransactionInfoResponse`).
public struct AppTransactionInfoResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// A JWS whose payload is an ``AppTransaction``.
  public var signedAppTransactionInfo: String? {
    get { self["signedAppTransactionInfo"] }
    set { self["signedAppTransactionInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedAppTransactionInfo", \.signedAppTransactionInfo)
  ]
}

/// The response of Get Test Notification Status (App Store Server API, `CheckTestNotificationResponse`).
public struct CheckTestNotificationResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as posted: a JWS whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The delivery attempts: the first and at most five retries.
  public var sendAttempts: [SendAttemptItem]? {
    get { self["sendAttempts"] }
    set { self["sendAttempts"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedPayload", \.signedPayload),
    DocumentedField("sendAttempts", \.sendAttempts),
  ]
}

/// The response of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateResponse`).
public struct ExtendRenewalDateResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// The purchase event of the extended period.
  public var webOrderLineItemId: String? {
    get { self["webOrderLineItemId"] }
    set { self["webOrderLineItemId"] = newValue }
  }

  /// Whether the extension took effect.
  public var success: Bool? {
    get { self["success"] }
    set { self["success"] = newValue }
  }

  /// The new expiration date.
  public var effectiveDate: Timestamp? {
    get { self["effectiveDate"] }
    set { self["effectiveDate"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("webOrderLineItemId", \.webOrderLineItemId),
    DocumentedField("success", \.success),
    DocumentedField("effectiveDate", \.effectiveDate),
  ]
}

/// The response of Get Transaction History, V2 and V1, with at most 20 transactions (App Store Server API,
/// `HistoryResponse`).
public struct HistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Marks the end of this page. The next request continues there with the same query. In ascending order, the revision
  /// of the last page can be stored and used later.
  public var revision: String? {
    get { self["revision"] }
    set { self["revision"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The environment of the purchases.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("revision", \.revision),
    DocumentedField("hasMore", \.hasMore),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("environment", \.environment),
    DocumentedField("signedTransactions", \.signedTransactions),
  ]
}

/// The latest signed transaction and renewal information of one subscription (App Store Server API,
/// `lastTransactionsItem`).
public struct LastTransactionsItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The status of the subscription.
  public var status: Status? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// A JWS whose payload is a ``JWSRenewalInfoDecodedPayload``.
  public var signedRenewalInfo: String? {
    get { self["signedRenewalInfo"] }
    set { self["signedRenewalInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("status", \.status),
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo),
    DocumentedField("signedRenewalInfo", \.signedRenewalInfo),
  ]
}

/// The response of Extend Subscription Renewal Dates for All Active Subscribers. Apple has started the extension, which
/// may take days (App Store Server API, `MassExtendRenewalDateResponse`).
public struct MassExtendRenewalDateResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestIdentifier", \.requestIdentifier)
  ]
}

/// The response of Get Status of Subscription Renewal Date Extensions (App Store Server API,
/// `MassExtendRenewalDateStatusResponse`).
public struct MassExtendRenewalDateStatusResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// Whether the extension is complete.
  public var complete: Bool? {
    get { self["complete"] }
    set { self["complete"] = newValue }
  }

  /// The completion time; absent before.
  public var completeDate: Timestamp? {
    get { self["completeDate"] }
    set { self["completeDate"] = newValue }
  }

  /// The number of subscriptions that were extended; absent until the extension is complete.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// The number of subscriptions that were not extended; absent until the extension is complete.
  public var failedCount: Int64? {
    get { self["failedCount"] }
    set { self["failedCount"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestIdentifier", \.requestIdentifier),
    DocumentedField("complete", \.complete),
    DocumentedField("completeDate", \.completeDate),
    DocumentedField("succeededCount", \.succeededCount),
    DocumentedField("failedCount", \.failedCount),
  ]
}

/// The response of Get Notification History with at most 20 notifications (App Store Server API,
/// `NotificationHistoryResponse`).
public struct NotificationHistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Marks the end of this page. The next request continues there with the same body.
  public var paginationToken: String? {
    get { self["paginationToken"] }
    set { self["paginationToken"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The notifications of this page.
  public var notificationHistory: [NotificationHistoryResponseItem]? {
    get { self["notificationHistory"] }
    set { self["notificationHistory"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("paginationToken", \.paginationToken),
    DocumentedField("hasMore", \.hasMore),
    DocumentedField("notificationHistory", \.notificationHistory),
  ]
}

/// A notification and its delivery attempts (App Store Server API, `notificationHistoryResponseItem`).
public struct NotificationHistoryResponseItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as posted: a JWS whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The delivery attempts, at most six.
  public var sendAttempts: [SendAttemptItem]? {
    get { self["sendAttempts"] }
    set { self["sendAttempts"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedPayload", \.signedPayload),
    DocumentedField("sendAttempts", \.sendAttempts),
  ]
}

/// The response of Look Up Order ID (App Store Server API, `OrderLookupResponse`).
public struct OrderLookupResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the order belongs to this app.
  public var status: OrderLookupStatus? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``. Absent if the order
  /// identifier is invalid.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("status", \.status),
    DocumentedField("signedTransactions", \.signedTransactions),
  ]
}

/// The response of Get Refund History with at most 20 transactions (App Store Server API, `RefundHistoryResponse`).
public struct RefundHistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``. Empty if there was no refund.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// Marks the end of this page. The next request continues there. Store the revision of the last page to request only
  /// newer refunds later.
  public var revision: String? {
    get { self["revision"] }
    set { self["revision"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactions", \.signedTransactions),
    DocumentedField("revision", \.revision),
    DocumentedField("hasMore", \.hasMore),
  ]
}

/// The response of Get Refund History V1 with at most the 50 latest refunds (App Store Server API,
/// `RefundLookupResponse`).
public struct RefundLookupResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactions", \.signedTransactions)
  ]
}

/// The time and result of a delivery attempt (App Store Server API, `sendAttemptItem`).
public struct SendAttemptItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The time of the attempt.
  public var attemptDate: Timestamp? {
    get { self["attemptDate"] }
    set { self["attemptDate"] = newValue }
  }

  /// The result of the attempt.
  public var sendAttemptResult: SendAttemptResult? {
    get { self["sendAttemptResult"] }
    set { self["sendAttemptResult"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("attemptDate", \.attemptDate),
    DocumentedField("sendAttemptResult", \.sendAttemptResult),
  ]
}

/// The response of Request a Test Notification (App Store Server API, `SendTestNotificationResponse`).
public struct SendTestNotificationResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the test notification in requests for its status, for six months.
  public var testNotificationToken: String? {
    get { self["testNotificationToken"] }
    set { self["testNotificationToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("testNotificationToken", \.testNotificationToken)
  ]
}

/// The response of Get All Subscription Statuses (App Store Server API, `StatusResponse`).
public struct StatusResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the purchases.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The subscriptions, by group.
  public var data: [SubscriptionGroupIdentifierItem]? {
    get { self["data"] }
    set { self["data"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("data", \.data),
  ]
}

/// The latest transactions of one subscription group (App Store Server API, `SubscriptionGroupIdentifierItem`).
public struct SubscriptionGroupIdentifierItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The group.
  public var subscriptionGroupIdentifier: String? {
    get { self["subscriptionGroupIdentifier"] }
    set { self["subscriptionGroupIdentifier"] = newValue }
  }

  /// The latest transaction of each subscription in the group.
  public var lastTransactions: [LastTransactionsItem]? {
    get { self["lastTransactions"] }
    set { self["lastTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
    DocumentedField("lastTransactions", \.lastTransactions),
  ]
}

/// The response of Get Transaction Info (App Store Server API, `TransactionInfoResponse`).
public struct TransactionInfoResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo)
  ]
}
