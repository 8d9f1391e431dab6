/// The response of Get Transaction History, V2 and V1, with at most 20 transactions (App Store Server API,
/// `HistoryResponse`).
public struct HistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Marks the end of this page. The next request continues there with the same query. In ascending order, the revision
  /// of the last page can be stored and used later.
  public var revision: String? {
    get { self["revision"] }
    set { self["revision"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The environment of the purchases.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The transactions. Each is a JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactions: [String]? {
    get { self["signedTransactions"] }
    set { self["signedTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("revision", \.revision),
    DocumentedField("hasMore", \.hasMore),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("environment", \.environment),
    DocumentedField("signedTransactions", \.signedTransactions),
  ]
}
