/// The latest signed transaction and renewal information of one subscription (App Store Server API,
/// `lastTransactionsItem`).
public struct LastTransactionsItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The status of the subscription.
  public var status: Status? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// A JWS whose payload is a ``JWSRenewalInfoDecodedPayload``.
  public var signedRenewalInfo: String? {
    get { self["signedRenewalInfo"] }
    set { self["signedRenewalInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("status", \.status),
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo),
    DocumentedField("signedRenewalInfo", \.signedRenewalInfo),
  ]
}
