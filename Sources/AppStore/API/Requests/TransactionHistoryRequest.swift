// Which of a customer's transactions are asked for: a query, not a body.

/// The query of Get Transaction History, V2 and V1 (App Store Server API, `TransactionHistoryRequest`). Every page of one
/// history takes the same query.
public struct TransactionHistoryRequest: Sendable, Hashable {
  /// Only transactions from this moment on.
  public var startDate: Timestamp?
  /// Only transactions until this moment.
  public var endDate: Timestamp?
  /// Only these products; all when empty.
  public var productIds: [String]
  /// Only these types of product; all when empty.
  public var productTypes: [ProductType]
  /// By the date of the last change; Apple's own order is ascending.
  public var sort: Order?
  /// Only subscriptions of these groups; all when empty.
  public var subscriptionGroupIdentifiers: [String]
  /// Only what the customer bought, or only what the family shares.
  public var inAppOwnershipType: InAppOwnershipType?
  /// True for revoked transactions only, false for the others only.
  public var revoked: Bool?

  /// A customer's whole history, to be narrowed down by the arguments given.
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

  /// The query, always in this order.
  ///
  /// - Parameter revision: where to continue: ``HistoryResponse/revision`` of the page before; nil for the first page.
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
  /// A type of product as this query names it; transactions name it otherwise.
  public struct ProductType: OpenEnum {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Any value, known or not.
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

  /// The order of a history, by the date of each transaction's last change.
  public struct Order: OpenEnum {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Any value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// What changed last comes last: the order in which a stored revision can be continued later.
    public static let ascending = Order(rawValue: "ASCENDING")
    /// What changed last comes first.
    public static let descending = Order(rawValue: "DESCENDING")

    /// The values that Apple documents.
    public static let allKnown: [Order] = [.ascending, .descending]
  }
}
