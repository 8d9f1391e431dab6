// What was consumed of a purchase, in the fields of version 1.

/// The body of Send Consumption Information V1 (App Store Server API, `ConsumptionRequestV1`). Apple wants every field;
/// most have a value for "not declared".
public struct ConsumptionRequestV1: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A request that declares nothing but what must be declared, to be filled: every other field has its value for "not
  /// declared". Not yet checked: see ``violations()``.
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

  /// Whether the customer agreed that this is sent: true, or nothing may be sent.
  public var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// How much was consumed.
  public var consumptionStatus: ConsumptionStatus? {
    get { self["consumptionStatus"] }
    set { self["consumptionStatus"] = newValue }
  }

  /// Where it was consumed.
  public var platform: Platform? {
    get { self["platform"] }
    set { self["platform"] = newValue }
  }

  /// Whether the customer could see or try it before the purchase.
  public var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatusV1? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// The account: a UUID, or empty when it is not told.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// How old the account is.
  public var accountTenure: AccountTenure? {
    get { self["accountTenure"] }
    set { self["accountTenure"] = newValue }
  }

  /// How long the customer used the app.
  public var playTime: PlayTime? {
    get { self["playTime"] }
    set { self["playTime"] = newValue }
  }

  /// What the customer got back so far.
  public var lifetimeDollarsRefunded: LifetimeDollarsRefunded? {
    get { self["lifetimeDollarsRefunded"] }
    set { self["lifetimeDollarsRefunded"] = newValue }
  }

  /// What the customer bought so far.
  public var lifetimeDollarsPurchased: LifetimeDollarsPurchased? {
    get { self["lifetimeDollarsPurchased"] }
    set { self["lifetimeDollarsPurchased"] = newValue }
  }

  /// What became of the account.
  public var userStatus: UserStatus? {
    get { self["userStatus"] }
    set { self["userStatus"] = newValue }
  }

  /// What the team would like the App Store to decide.
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
