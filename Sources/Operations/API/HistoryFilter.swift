// Converts the flags of `millrace api history` into Apple's query.

package import AppStore
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
  package var from: StartArgument?
  /// `--until`
  package var until: TimeArgument?
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
  package func request(at now: Timestamp) throws(OperationError) -> TransactionHistoryRequest {
    let request = TransactionHistoryRequest(
      startDate: from?.time(at: now), endDate: until?.time(at: now), productIds: products,
      productTypes: types.map(\.productType), sort: isNewestFirst ? .descending : nil,
      subscriptionGroupIdentifiers: groups, revoked: revoked)
    if let startDate = request.startDate, let endDate = request.endDate, endDate <= startDate {
      throw OperationError(
        .usage, "the time is not after --from", at: "--until", remedy: "use a time after --from, or omit one of the two"
      )
    }
    return request
  }
}
