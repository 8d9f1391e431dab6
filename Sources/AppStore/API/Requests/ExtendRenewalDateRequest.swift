// The extension of one subscription.

/// The body of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateRequest`).
public struct ExtendRenewalDateRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    extendByDays: Int, extendReasonCode: ExtendReasonCode, requestIdentifier: String
  ) {
    self.init()
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
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
