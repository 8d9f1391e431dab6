// The filters of Get Transaction History. An invalid filter is an error.

internal import AppStore

/// The transactions that a caller requests.
struct HistoryQuery: Sendable, Hashable {
  private var from: Timestamp?
  private var until: Timestamp?
  private var productIds: Set<String>
  private var types: Set<ProductType>
  private var groups: Set<String>
  private var ownership: InAppOwnershipType?
  private var isRevoked: Bool?
  let isDescending: Bool

  /// The properties of a transaction that the filters use.
  struct Row: Sendable, Hashable {
    var purchaseDate: Timestamp
    var productId: String
    var type: ProductType
    var group: String?
    var ownership: InAppOwnershipType
    var isRevoked: Bool
  }

  private static let typeNames: [String: ProductType] = [
    "AUTO_RENEWABLE": .autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
    "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
  ]

  /// Reads the query of a call.
  ///
  /// - Throws: Apple's error for the first invalid filter.
  init(_ call: SimulatedCall) throws(APIFailure) {
    from = try Self.moment(call, "startDate", else: .invalidStartDate)
    until = try Self.moment(call, "endDate", else: .invalidEndDate)
    if let from, let until, from >= until { throw .startDateAfterEndDate }
    productIds = Set(call.values("productId"))
    guard !productIds.contains("") else { throw .invalidProductId }
    types = []
    for name in call.values("productType") {
      guard let type = Self.typeNames[name] else { throw .invalidProductType }
      types.insert(type)
    }
    groups = Set(call.values("subscriptionGroupIdentifier"))
    guard !groups.contains("") else { throw .invalidSubscriptionGroupIdentifier }
    switch try call.value("sort", else: .invalidSort) {
    case nil, "ASCENDING": isDescending = false
    case "DESCENDING": isDescending = true
    default: throw .invalidSort
    }
    ownership = try call.value("inAppOwnershipType", else: .invalidInAppOwnershipType)
      .map { text throws(APIFailure) in
        guard let ownership = InAppOwnershipType.allKnown.first(where: { $0.rawValue == text }) else {
          throw .invalidInAppOwnershipType
        }
        return ownership
      }
    isRevoked = try Self.flag(call, "revoked", else: .invalidRevoked)
    if call.endpoint == .getTransactionHistoryV1,
      try Self.flag(call, "excludeRevoked", else: .invalidExcludeRevoked) == true
    {
      isRevoked = false
    }
  }

  /// Whether a transaction matches every filter. A filter with several values matches any of them.
  func wants(_ row: Row) -> Bool {
    if let from, row.purchaseDate < from { return false }
    if let until, row.purchaseDate >= until { return false }
    if !productIds.isEmpty, !productIds.contains(row.productId) { return false }
    if !types.isEmpty, !types.contains(row.type) { return false }
    if !groups.isEmpty, !(row.group.map(groups.contains) ?? false) { return false }
    if let ownership, row.ownership != ownership { return false }
    if let isRevoked, row.isRevoked != isRevoked { return false }
    return true
  }

  private static func moment(
    _ call: SimulatedCall, _ name: String, else failure: APIFailure
  ) throws(APIFailure) -> Timestamp? {
    guard let text = try call.value(name, else: failure) else { return nil }
    guard let milliseconds = Int64(text), milliseconds >= 0 else { throw failure }
    return Timestamp(millisecondsSince1970: milliseconds)
  }

  private static func flag(_ call: SimulatedCall, _ name: String, else failure: APIFailure) throws(APIFailure) -> Bool?
  {
    switch try call.value(name, else: failure) {
    case nil: nil
    case "true": true
    case "false": false
    default: throw failure
    }
  }
}

extension SimulatedCall {
  /// The query that a page token is bound to: all parameters except the token itself, in any order.
  func pageQuery(without token: String, about subject: String) -> String {
    let parameters = query.filter { $0.name != token }.map { "\($0.name)=\($0.value)" }.sorted()
    let body = String(decoding: Base64.encodeURL(self.body), as: UTF8.self)
    return ([endpoint.rawValue, bundleId, environment.rawValue, subject, body] + parameters).joined(separator: "\n")
  }
}
