/// The response of Get Refund History V1 with at most the 50 latest refunds (App Store Server API,
/// `RefundLookupResponse`).
public struct RefundLookupResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactions", \.signedTransactions)
  ]
}
