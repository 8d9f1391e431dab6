// What Apple asks: one transaction whose customer wants the money back. Everything a provider may need to answer, and
// nothing of how it is answered.

public import AppStore
public import Millrace

/// A CONSUMPTION_REQUEST, by either version of App Store Server Notifications.
///
/// See App Store Server API, *Send Consumption Information*.
public struct ConsumptionQuestion: Sendable, Hashable {
  /// Which endpoint takes the answer.
  public enum Version: Sendable, Hashable {
    /// Send Consumption Information V1: version 1 notifications, consumables alone.
    case v1
    /// Send Consumption Information: every product type.
    case v2
  }

  /// `notificationUUID`; of a version 1 body its SHA-256. Apple repeats a request under a new one.
  public var notificationId: String
  /// Which endpoint takes the answer.
  public var version: Version
  /// The app.
  public var bundleId: String
  /// Production or sandbox.
  public var environment: AppStoreEnvironment
  /// What is to be refunded.
  public var transactionId: String
  /// The first transaction of the purchase.
  public var originalTransactionId: String?
  /// The product.
  public var productId: String?
  /// Its type; decides what may be said of it.
  public var productType: ProductType?
  /// How many were bought.
  public var quantity: Int64?
  /// When it was bought.
  public var purchaseDate: Timestamp?
  /// The team's own name of the customer. Personal data: for providers, never for a log.
  public var appAccountToken: String?
  /// What the customer said.
  public var reason: ConsumptionRequestReason?
  /// By when Apple wants the answer.
  public var deadline: ConsumptionDeadline

  init(
    notificationId: String, version: Version, bundleId: String, environment: AppStoreEnvironment,
    transactionId: String, originalTransactionId: String? = nil, productId: String? = nil,
    productType: ProductType? = nil, quantity: Int64? = nil, purchaseDate: Timestamp? = nil,
    appAccountToken: String? = nil, reason: ConsumptionRequestReason? = nil, deadline: ConsumptionDeadline
  ) {
    self.notificationId = notificationId
    self.version = version
    self.bundleId = bundleId
    self.environment = environment
    self.transactionId = transactionId
    self.originalTransactionId = originalTransactionId
    self.productId = productId
    self.productType = productType
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.appAccountToken = appAccountToken
    self.reason = reason
    self.deadline = deadline
  }

  /// The question of a notification; nil where it asks none.
  /// - Throws: ``PermanentFailure`` for one that does not say what it is about.
  public init?(_ notification: Notification) throws(PermanentFailure) {
    switch notification.event {
    case .consumptionRequest: break
    case .v1(.consumptionRequest): break
    default: return nil
    }
    guard let bundleId = notification.bundleId, let environment = notification.environment else {
      throw PermanentFailure(
        "app-unknown", "the request names no app or environment; answer it in App Store Connect, then discard")
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
    }
  }

  private static let withoutTransaction = PermanentFailure(
    "transaction-unknown", "the request names no transaction, so there is nothing to answer about; discard it")

  /// The row a version 1 body is about: of what it names, else its only consumable. The body holds a customer's other
  /// purchases too, and does not say which of them is meant. nil where it names a purchase that has no row.
  private static func row(of body: ResponseBodyV1) throws(PermanentFailure) -> LatestReceiptInfo? {
    let consumables = body.receiptRows.filter { $0.expiresDate == nil && $0.transaction_id?.isEmpty == false }
    let named = body.original_transaction_id.map { original in
      consumables.filter { $0.original_transaction_id == original || $0.transaction_id == original }
    }
    let candidates = named ?? consumables
    guard let row = candidates.first else { return nil }
    guard Set(candidates.map(\.transaction_id)).count == 1 else {
      throw PermanentFailure(
        "transaction-ambiguous",
        """
        the version 1 body holds several purchases and does not say which is to be refunded; switch the app to version 2, \
        which does
        """)
    }
    return row
  }
}
