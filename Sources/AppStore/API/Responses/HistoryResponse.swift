// A page of a customer's transactions.

/// The answer of Get Transaction History, V2 and V1: at most 20 transactions (App Store Server API, `HistoryResponse`).
public struct HistoryResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Names the end of this page: the next call continues there, with the same query. That of the last page can be kept
  /// and used later, when the order was ascending.
  public var revision: String? {
    get { self["revision"] }
    set { self["revision"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The app's bundle.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app in the App Store; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// Where the purchases were made.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// Each a JWS whose payload is a ``JWSTransactionDecodedPayload``.
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
