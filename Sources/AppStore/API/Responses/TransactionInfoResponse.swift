// One transaction.

/// The answer of Get Transaction Info (App Store Server API, `TransactionInfoResponse`).
public struct TransactionInfoResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo)
  ]
}
