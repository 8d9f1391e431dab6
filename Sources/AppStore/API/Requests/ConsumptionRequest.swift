// What was consumed of a purchase whose refund the customer asks for.

/// The body of Send Consumption Information (App Store Server API, `ConsumptionRequest`).
public struct ConsumptionRequest: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A complete request, not yet checked: see ``violations(productType:)``.
  public init(
    customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatus,
    consumptionPercentage: Int? = nil, refundPreference: RefundPreference? = nil
  ) {
    self.init()
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    self.consumptionPercentage = consumptionPercentage
    self.refundPreference = refundPreference
  }

  /// Whether the customer agreed that this is sent: true, or nothing may be sent.
  public var customerConsented: Bool? {
    get { self["customerConsented"] }
    set { self["customerConsented"] = newValue }
  }

  /// Whether the customer could see or try it before the purchase.
  public var sampleContentProvided: Bool? {
    get { self["sampleContentProvided"] }
    set { self["sampleContentProvided"] = newValue }
  }

  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatus? {
    get { self["deliveryStatus"] }
    set { self["deliveryStatus"] = newValue }
  }

  /// How much was consumed, in milliunits of a percent: 0 to 100000. Not for auto-renewable subscriptions.
  public var consumptionPercentage: Int? {
    get { self["consumptionPercentage"] }
    set { self["consumptionPercentage"] = newValue }
  }

  /// What the team would like the App Store to decide.
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
