// The purchase of the app itself.

/// The answer of Get App Transaction Info (App Store Server API, `AppTransactionInfoResponse`).
public struct AppTransactionInfoResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
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
