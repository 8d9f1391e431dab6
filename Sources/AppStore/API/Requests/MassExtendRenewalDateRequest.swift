// The extension of all subscriptions to a product.

/// The body of Extend Subscription Renewal Dates for All Active Subscribers (App Store Server API,
/// `MassExtendRenewalDateRequest`).
public struct MassExtendRenewalDateRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    extendByDays: Int, extendReasonCode: ExtendReasonCode, requestIdentifier: String,
    storefrontCountryCodes: [String]? = nil, productId: String
  ) {
    self.init()
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
    self.storefrontCountryCodes = storefrontCountryCodes
    self.productId = productId
  }

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
