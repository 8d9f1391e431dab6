// What was bought with an order.

/// The answer of Look Up Order ID (App Store Server API, `OrderLookupResponse`).
public struct OrderLookupResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Whether the order id is one of this app.
  public var status: OrderLookupStatus? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// Each a JWS whose payload is a ``JWSTransactionDecodedPayload``; absent when the order id is not valid.
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
