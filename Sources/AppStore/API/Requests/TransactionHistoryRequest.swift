// A request for a customer's transactions, sent as a query.

/// The query of Get Transaction History, V2 and V1 (App Store Server API, `TransactionHistoryRequest`). It is the same
/// for every page of a history.
public struct TransactionHistoryRequest: Sendable, Hashable {
  /// Selects transactions from this time on.
  public var startDate: Timestamp?
  /// Selects transactions until this time.
  public var endDate: Timestamp?
  /// Selects these products; empty for all.
  public var productIds: [String]
  /// Selects these product types; empty for all.
  public var productTypes: [ProductType]
  /// The order by the date of the last change; Apple's default is ascending.
  public var sort: Order?
  /// Selects subscriptions in these groups; empty for all.
  public var subscriptionGroupIdentifiers: [String]
  /// Selects purchased or family-shared transactions only.
  public var inAppOwnershipType: InAppOwnershipType?
  /// True selects revoked transactions only, false all others only.
  public var revoked: Bool?

  /// Creates a request for a customer's whole history, narrowed down by the arguments.
  public init(
    startDate: Timestamp? = nil, endDate: Timestamp? = nil, productIds: [String] = [],
    productTypes: [ProductType] = [], sort: Order? = nil, subscriptionGroupIdentifiers: [String] = [],
    inAppOwnershipType: InAppOwnershipType? = nil, revoked: Bool? = nil
  ) {
    self.startDate = startDate
    self.endDate = endDate
    self.productIds = productIds
    self.productTypes = productTypes
    self.sort = sort
    self.subscriptionGroupIdentifiers = subscriptionGroupIdentifiers
    self.inAppOwnershipType = inAppOwnershipType
    self.revoked = revoked
  }

  /// Returns the query, always in this order.
  ///
  /// - Parameter revision: the position to continue at: ``HistoryResponse/revision`` of the previous page; nil for the
  ///   first page.
  public func queryItems(revision: String? = nil) -> [QueryItem] {
    var items: [QueryItem] = []
    func add(_ name: String, _ value: String?) {
      if let value { items.append(QueryItem(name, value)) }
    }
    add("revision", revision)
    add("startDate", startDate.map { "\($0.millisecondsSince1970)" })
    add("endDate", endDate.map { "\($0.millisecondsSince1970)" })
    for productId in productIds { add("productId", productId) }
    for productType in productTypes { add("productType", productType.rawValue) }
    add("sort", sort?.rawValue)
    for group in subscriptionGroupIdentifiers { add("subscriptionGroupIdentifier", group) }
    add("inAppOwnershipType", inAppOwnershipType?.rawValue)
    add("revoked", revoked.map { "\($0)" })
    return items
  }
}

extension TransactionHistoryRequest {
  /// A product type, as this query names it. Transactions use other names.
  public struct ProductType: OpenEnum {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Creates a value, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Auto-renewable subscriptions.
    public static let autoRenewable = ProductType(rawValue: "AUTO_RENEWABLE")
    /// Non-renewing subscriptions.
    public static let nonRenewable = ProductType(rawValue: "NON_RENEWABLE")
    /// Consumables.
    public static let consumable = ProductType(rawValue: "CONSUMABLE")
    /// Non-consumables.
    public static let nonConsumable = ProductType(rawValue: "NON_CONSUMABLE")

    /// The values that Apple documents.
    public static let allKnown: [ProductType] = [.autoRenewable, .nonRenewable, .consumable, .nonConsumable]
  }

  /// The order of a history by the date of each transaction's last change.
  public struct Order: OpenEnum {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Creates a value, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Oldest change first. A stored revision can be continued later in this order.
    public static let ascending = Order(rawValue: "ASCENDING")
    /// Newest change first.
    public static let descending = Order(rawValue: "DESCENDING")

    /// The values that Apple documents.
    public static let allKnown: [Order] = [.ascending, .descending]
  }
}
