/// The response of Look Up Order ID (App Store Server API, `OrderLookupResponse`).
public struct OrderLookupResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the order belongs to this app.
  public var status: OrderLookupStatus? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``. Absent if the order
  /// identifier is invalid.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("status", \.status),
    DocumentedField("signedTransactions", \.signedTransactions),
  ]
}
