// The extension of one subscription.

/// The body of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateRequest`).
public struct ExtendRenewalDateRequest: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A complete request, not yet checked: see ``violations()``.
  public init(
    extendByDays: Int, extendReasonCode: ExtendReasonCode, requestIdentifier: String
  ) {
    self.init()
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
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

  /// Names this extension, 1 to 128 characters: the same for every try of the same extension.
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
