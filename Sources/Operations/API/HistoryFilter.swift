// Converts the flags of `millrace api history` into Apple's query.

package import AppStore
internal import MillraceTime
internal import MillraceWorker

/// The flags of `millrace api history`.
package struct HistoryFilter: Sendable, Hashable {
  /// A product type as the command line names it.
  package enum ProductKind: String, Sendable, Hashable, CaseIterable {
    /// Auto-renewable subscriptions.
    case autoRenewable = "auto-renewable"
    /// Non-renewing subscriptions.
    case nonRenewing = "non-renewing"
    /// Consumables.
    case consumable
    /// Non-consumables.
    case nonConsumable = "non-consumable"

    var productType: TransactionHistoryRequest.ProductType {
      switch self {
      case .autoRenewable: .autoRenewable
      case .nonRenewing: .nonRenewable
      case .consumable: .consumable
      case .nonConsumable: .nonConsumable
      }
    }
  }

  /// `--from`
  package var from: String?
  /// `--until`
  package var until: String?
  /// `--product`
  package var products: [String] = []
  /// `--type`
  package var types: [ProductKind] = []
  /// `--group`
  package var groups: [String] = []
  /// `--revoked`, `--no-revoked`
  package var revoked: Bool?
  /// `--newest-first`
  package var isNewestFirst = false

  /// No filter: all transactions, the oldest change first.
  package init() {}

  /// Converts the flags into a request.
  /// - Throws: ``OperationError`` that names the invalid flag.
  package func request() throws(OperationError) -> TransactionHistoryRequest {
    let request = TransactionHistoryRequest(
      startDate: try Self.moment(from, "--from"), endDate: try Self.moment(until, "--until"), productIds: products,
      productTypes: types.map(\.productType), sort: isNewestFirst ? .descending : nil,
      subscriptionGroupIdentifiers: groups, revoked: revoked)
    if let startDate = request.startDate, let endDate = request.endDate, endDate <= startDate {
      throw OperationError(
        .usage, "the time is not after --from", at: "--until", remedy: "use a time after --from, or omit one of the two"
      )
    }
    return request
  }

  /// Parses an RFC 3339 time or a UTC date. If `now` is given, also accepts an age such as `3d`.
  static func moment(
    _ text: String?, _ flag: String, now: Timestamp? = nil
  ) throws(OperationError) -> Timestamp? {
    guard let text else { return nil }
    if let moment = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") { return moment }
    if let now, let ago = DurationText.parse(text) { return now - ago }
    throw OperationError(
      .usage, "\"\(text)\" is not a date", at: flag, remedy: "use a form such as 2026-01-31 or 2026-01-31T12:00:00Z")
  }
}
