// A page of a customer's refunds.

/// The answer of Get Refund History: at most 20 transactions (App Store Server API, `RefundHistoryResponse`).
public struct RefundHistoryResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Each a JWS whose payload is a ``JWSTransactionDecodedPayload``; empty when there was no refund.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// Names the end of this page: the next call continues there. That of the last page can be kept to get only newer
  /// refunds later.
  public var revision: String? {
    get { self["revision"] }
    set { self["revision"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedTransactions", \.signedTransactions),
    DocumentedField("revision", \.revision),
    DocumentedField("hasMore", \.hasMore),
  ]
}
