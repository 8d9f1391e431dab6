// The consumption information about a purchase for which the customer requested a refund.

/// The body of Send Consumption Information (App Store Server API, `ConsumptionRequest`).
public struct ConsumptionRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a complete request. It is not checked yet: see ``violations(productType:)``.
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
