// Written from Sources/AppStore/Fields/Requests.md by `scripts/check types --write`.

/// The body of Send Consumption Information (App Store Server API, `ConsumptionRequest`).
public struct ConsumptionRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the customer consented to sending this data. It must be true for anything to be sent.
  public var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// Whether the customer could view or try the content before the purchase.
  public var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatus? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// The consumed share, in thousandths of a percent, from 0 to 100000. Not for auto-renewable subscriptions.
  public var consumptionPercentage: Int? {
    get { self["consumptionPercentage"] }
    set { self["consumptionPercentage"] = newValue }
  }

  /// The team's preferred refund decision.
  public var refundPreference: RefundPreference? {
    get { self["refundPreference"] }
    set { self["refundPreference"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("customerConsented", \.customerConsented),
    DocumentedField("sampleContentProvided", \.sampleContentProvided),
    DocumentedField("deliveryStatus", \.deliveryStatus),
    DocumentedField("consumptionPercentage", \.consumptionPercentage),
    DocumentedField("refundPreference", \.refundPreference),
  ]
}

/// The body of Send Consumption Information V1 (App Store Server API, `ConsumptionRequestV1`). Apple requires every
/// field; most have a value for "not declared".
public struct ConsumptionRequestV1: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the customer consented to sending this data. It must be true for anything to be sent.
  public var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// The consumed part of the purchase.
  public var consumptionStatus: ConsumptionStatus? {
    get { self["consumptionStatus"] }
    set { self["consumptionStatus"] = newValue }
  }

  /// The platform on which it was consumed.
  public var platform: Platform? {
    get { self["platform"] }
    set { self["platform"] = newValue }
  }

  /// Whether the customer could view or try the content before the purchase.
  public var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatusV1? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// The account, a UUID; empty if there is none.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The age of the account.
  public var accountTenure: AccountTenure? {
    get { self["accountTenure"] }
    set { self["accountTenure"] = newValue }
  }

  /// The time for which the customer used the app.
  public var playTime: PlayTime? {
    get { self["playTime"] }
    set { self["playTime"] = newValue }
  }

  /// The total of the customer's refunds.
  public var lifetimeDollarsRefunded: LifetimeDollarsRefunded? {
    get { self["lifetimeDollarsRefunded"] }
    set { self["lifetimeDollarsRefunded"] = newValue }
  }

  /// The total of the customer's purchases.
  public var lifetimeDollarsPurchased: LifetimeDollarsPurchased? {
    get { self["lifetimeDollarsPurchased"] }
    set { self["lifetimeDollarsPurchased"] = newValue }
  }

  /// The status of the account.
  public var userStatus: UserStatus? {
    get { self["userStatus"] }
    set { self["userStatus"] = newValue }
  }

  /// The team's preferred refund decision.
  public var refundPreference: RefundPreferenceV1? {
    get { self["refundPreference"] }
    set { self["refundPreference"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("customerConsented", \.customerConsented),
    DocumentedField("consumptionStatus", \.consumptionStatus),
    DocumentedField("platform", \.platform),
    DocumentedField("sampleContentProvided", \.sampleContentProvided),
    DocumentedField("deliveryStatus", \.deliveryStatus),
    DocumentedField("appAccountToken", \.appAccountToken),
    DocumentedField("accountTenure", \.accountTenure),
    DocumentedField("playTime", \.playTime),
    DocumentedField("lifetimeDollarsRefunded", \.lifetimeDollarsRefunded),
    DocumentedField("lifetimeDollarsPurchased", \.lifetimeDollarsPurchased),
    DocumentedField("userStatus", \.userStatus),
    DocumentedField("refundPreference", \.refundPreference),
  ]
}

/// The body of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateRequest`).
public struct ExtendRenewalDateRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The number of days, from 1 to 90.
  public var extendByDays: Int? {
    get { self["extendByDays"] }
    set { self["extendByDays"] = newValue }
  }

  /// The reason for the extension.
  public var extendReasonCode: ExtendReasonCode? {
    get { self["extendReasonCode"] }
    set { self["extendReasonCode"] = newValue }
  }

  /// Identifies this extension, 1 to 128 characters. It is the same for every attempt of the same extension.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("extendByDays", \.extendByDays),
    DocumentedField("extendReasonCode", \.extendReasonCode),
    DocumentedField("requestIdentifier", \.requestIdentifier),
  ]
}

/// The body of Extend Subscription Renewal Dates for All Active Subscribers (App Store Server API,
/// `MassExtendRenewalDateRequest`).
public struct MassExtendRenewalDateRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The number of days, from 1 to 90.
  public var extendByDays: Int? {
    get { self["extendByDays"] }
    set { self["extendByDays"] = newValue }
  }

  /// The reason for the extension.
  public var extendReasonCode: ExtendReasonCode? {
    get { self["extendReasonCode"] }
    set { self["extendReasonCode"] = newValue }
  }

  /// Identifies this extension, a UUID. It is the same for every attempt of the same extension.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The storefronts, ISO 3166-1 alpha-3; absent for all, never empty.
  public var storefrontCountryCodes: [String]? {
    get { self["storefrontCountryCodes"] }
    set { self["storefrontCountryCodes"] = newValue }
  }

  /// The product whose subscriptions are extended.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("extendByDays", \.extendByDays),
    DocumentedField("extendReasonCode", \.extendReasonCode),
    DocumentedField("requestIdentifier", \.requestIdentifier),
    DocumentedField("storefrontCountryCodes", \.storefrontCountryCodes),
    DocumentedField("productId", \.productId),
  ]
}

/// The body of Get Notification History, the same for every page (App Store Server API, `NotificationHistoryRequest`).
public struct NotificationHistoryRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The start of the time range: at most 180 days ago, or 30 days in the sandbox.
  public var startDate: Timestamp? {
    get { self["startDate"] }
    set { self["startDate"] = newValue }
  }

  /// The end of the time range: later than ``startDate``.
  public var endDate: Timestamp? {
    get { self["endDate"] }
    set { self["endDate"] = newValue }
  }

  /// Selects this type. Cannot be combined with ``transactionId``.
  public var notificationType: NotificationTypeV2? {
    get { self["notificationType"] }
    set { self["notificationType"] = newValue }
  }

  /// Selects this subtype, of ``notificationType`` if that is set.
  public var notificationSubtype: Subtype? {
    get { self["notificationSubtype"] }
    set { self["notificationSubtype"] = newValue }
  }

  /// Selects the customer of this transaction.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// Selects notifications that have not reached the server.
  public var onlyFailures: Bool? {
    get { self["onlyFailures"] }
    set { self["onlyFailures"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("startDate", \.startDate),
    DocumentedField("endDate", \.endDate),
    DocumentedField("notificationType", \.notificationType),
    DocumentedField("notificationSubtype", \.notificationSubtype),
    DocumentedField("transactionId", \.transactionId),
    DocumentedField("onlyFailures", \.onlyFailures),
  ]
}

/// The body of Set App Account Token (App Store Server API, `UpdateAppAccountTokenRequest`).
public struct UpdateAppAccountTokenRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The team's own identifier for the account, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAccountToken", \.appAccountToken)
  ]
}
