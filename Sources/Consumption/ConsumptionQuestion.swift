// Apple's request for consumption data about one transaction whose customer wants a refund. It holds what providers
// need for an answer.

package import AppStore
package import MillraceWorker

/// A CONSUMPTION_REQUEST from either version of App Store Server Notifications.
///
/// See App Store Server API, *Send Consumption Information*.
package struct ConsumptionQuestion: Sendable, Hashable {
  /// The version of the endpoint that accepts the answer.
  package enum Version: Sendable, Hashable {
    /// Send Consumption Information V1: for version 1 notifications, consumables only.
    case v1
    /// Send Consumption Information: for every product type.
    case v2
  }

  /// The `notificationUUID`, or the SHA-256 of a version 1 body. A request that Apple repeats has a new one.
  package var notificationId: String
  /// The version of the endpoint that accepts the answer.
  package var version: Version
  /// The app.
  package var bundleId: String
  /// Production or sandbox.
  package var environment: AppStoreEnvironment
  /// The transaction that the customer wants refunded.
  package var transactionId: String
  /// The first transaction of the purchase.
  package var originalTransactionId: String?
  /// The product.
  package var productId: String?
  /// The type of the product, which determines the allowed fields of an answer.
  package var productType: ProductType?
  /// The purchased quantity.
  package var quantity: Int64?
  /// The time of the purchase.
  package var purchaseDate: Timestamp?
  /// The team's own identifier of the customer. Personal data: for providers, never for logs.
  package var appAccountToken: String?
  /// The customer's reason for the refund request.
  package var reason: ConsumptionRequestReason?
  /// The country of the customer's App Store, in ISO 3166-1 alpha-3.
  package var storefront: String?
  /// The deadlines of the answer.
  package var deadline: ConsumptionDeadline
}

extension ConsumptionQuestion {
  /// Creates the question of a notification; nil if it is not a consumption request.
  /// - Throws: ``UnanswerableRequest`` if the notification does not identify the app or the transaction.
  package init?(_ notification: AppStoreNotification) throws(UnanswerableRequest) {
    switch notification.event {
    case .consumptionRequest: break
    case .v1(.consumptionRequest): break
    default: return nil
    }
    guard let bundleId = notification.bundleId, let environment = notification.environment else {
      throw UnanswerableRequest(
        "app-unknown", "the request names no app or environment; answer it in App Store Connect, then discard it")
    }
    notificationId = notification.id
    self.bundleId = bundleId
    self.environment = environment
    deadline = ConsumptionDeadline(signedDate: notification.signedDate, receivedAt: notification.receivedAt)
    switch notification.content {
    case .v1(let body):
      version = .v1
      let row = try Self.row(of: body)
      guard let id = row?.transaction_id ?? body.original_transaction_id, !id.isEmpty else {
        throw Self.withoutTransaction
      }
      transactionId = id
      originalTransactionId = row?.original_transaction_id ?? body.original_transaction_id
      productId = row?.product_id
      // "The CONSUMPTION_REQUEST notification applies to consumable in-app purchases" (notification_type).
      productType = .consumable
      quantity = row?.quantity.flatMap { Int64($0) }
      purchaseDate = row?.purchaseDate
      appAccountToken = row?.app_account_token
    default:
      version = .v2
      guard let transaction = notification.transaction, let id = transaction.transactionId else {
        throw Self.withoutTransaction
      }
      transactionId = id
      originalTransactionId = transaction.originalTransactionId
      productId = transaction.productId
      productType = transaction.type
      quantity = transaction.quantity
      purchaseDate = transaction.purchaseDate
      appAccountToken = transaction.appAccountToken
      reason = notification.payload?.data?.consumptionRequestReason
      storefront = transaction.storefront
    }
  }

  private static let withoutTransaction = UnanswerableRequest(
    "transaction-unknown", "the request names no transaction, so it cannot be answered; discard it")

  /// Returns the receipt row that a version 1 body is about: the row of the purchase that it names, else its only
  /// consumable. The body also holds the customer's other purchases and does not mark the one in question. Returns nil
  /// if no row matches.
  private static func row(of body: ResponseBodyV1) throws(UnanswerableRequest) -> LatestReceiptInfo? {
    let consumables = body.receiptRows.filter { $0.expiresDate == nil && $0.transaction_id?.isEmpty == false }
    let named = body.original_transaction_id.map { original in
      consumables.filter { $0.original_transaction_id == original || $0.transaction_id == original }
    }
    let candidates = named ?? consumables
    guard let row = candidates.first else { return nil }
    guard Set(candidates.map(\.transaction_id)).count == 1 else {
      throw UnanswerableRequest(
        "transaction-ambiguous",
        """
        the version 1 body holds several purchases and does not say which one to refund; switch the app to version 2, \
        which does
        """)
    }
    return row
  }
}

/// A consumption request that cannot be answered. It becomes a dead letter.
package struct UnanswerableRequest: Error {
  /// The stable reason code of the dead letter.
  package let reason: String
  /// The missing part of the request, and the action that the operator should take.
  package let detail: String

  init(_ reason: String, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}

extension ConsumptionQuestion {
  /// When Apple signed the request.
  var askedAt: Timestamp { deadline.planned - ConsumptionDeadline.time }
}
