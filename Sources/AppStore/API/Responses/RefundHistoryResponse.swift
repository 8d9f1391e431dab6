/// The response of Get Refund History with at most 20 transactions (App Store Server API, `RefundHistoryResponse`).
public struct RefundHistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``. Empty if there was no refund.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// Marks the end of this page. The next request continues there. Store the revision of the last page to request only
  /// newer refunds later.
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
