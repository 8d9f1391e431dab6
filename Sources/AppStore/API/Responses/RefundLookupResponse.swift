// A customer's latest refunds.

/// The answer of Get Refund History V1: at most the 50 latest refunds (App Store Server API, `RefundLookupResponse`).
public struct RefundLookupResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Each a JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactions", \.signedTransactions)
  ]
}
