// The extension of every subscription of a product.

/// The body of Extend Subscription Renewal Dates for All Active Subscribers (App Store Server API,
/// `MassExtendRenewalDateRequest`).
public struct MassExtendRenewalDateRequest: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A complete request, not yet checked: see ``violations()``.
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

  /// By how many days, 1 to 90.
  public var extendByDays: Int? {
    get { self["extendByDays"] }
    set { self["extendByDays"] = newValue }
  }

  /// Why.
  public var extendReasonCode: ExtendReasonCode? {
    get { self["extendReasonCode"] }
    set { self["extendReasonCode"] = newValue }
  }

  /// Names this extension, a UUID: the same for every try of the same extension.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The storefronts, ISO 3166-1 alpha-3; absent for all, never empty.
  public var storefrontCountryCodes: [String]? {
    get { self["storefrontCountryCodes"] }
    set { self["storefrontCountryCodes"] = newValue }
  }

  /// The product whose subscribers are extended.
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
