/// The latest transactions of one subscription group (App Store Server API, `SubscriptionGroupIdentifierItem`).
public struct SubscriptionGroupIdentifierItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The group.
  public var subscriptionGroupIdentifier: String? {
    get { self["subscriptionGroupIdentifier"] }
    set { self["subscriptionGroupIdentifier"] = newValue }
  }

  /// The latest transaction of each subscription in the group.
  public var lastTransactions: [LastTransactionsItem]? {
    get { self["lastTransactions"] }
    set { self["lastTransactions"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
    DocumentedField("lastTransactions", \.lastTransactions),
  ]
}
