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
