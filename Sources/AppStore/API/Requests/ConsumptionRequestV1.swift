// The consumption information about a purchase, in version 1.

/// The body of Send Consumption Information V1 (App Store Server API, `ConsumptionRequestV1`). Apple requires every
/// field; most have a value for "not declared".
public struct ConsumptionRequestV1: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a request in which every field except these three has its value for "not declared". It is not checked yet:
  /// see ``violations()``.
  public init(customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatusV1) {
    self.init()
    self.customerConsented = customerConsented
    consumptionStatus = .undeclared
    platform = .undeclared
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    appAccountToken = ""
    accountTenure = .undeclared
    playTime = .undeclared
    lifetimeDollarsRefunded = .undeclared
    lifetimeDollarsPurchased = .undeclared
    userStatus = .undeclared
    refundPreference = .undeclared
  }

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
