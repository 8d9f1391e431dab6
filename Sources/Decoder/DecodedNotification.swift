// A notification as flat rows: one for itself, and one for each token inside it.

internal import AppStore
internal import AppStoreSignature
internal import MillraceRecords
internal import MillraceWorker

/// The decoded records of a notification.
struct DecodedNotification {
  /// A token inside a notification.
  struct Token {
    /// The kind of token.
    var kind: DecodedTokenKind
    /// The content.
    var row: JSONObject
  }

  /// The row of the notification; nil for a transaction that Apple's refund history contained.
  var row: JSONObject?
  /// The rows of its tokens.
  var tokens: [Token] = []

  init(_ notification: AppStoreNotification) {
    switch notification.content {
    case .v2(let verified):
      let payload = verified.payload
      var row = FlatRow()
      row.add("notificationUUID", notification.id)
      row.add("verified", true)
      row.add("receivedAt", notification.receivedAt)
      row.add(subject: notification)
      row.add(payload, .notification)
      row.add(payload.data, .notification)
      row.add(payload.summary, .notification)
      row.add(payload.externalPurchaseToken, .notification)
      row.add(payload.appData, .notification)
      self.row = row.json
      add(.transaction, notification.transaction, of: notification)
      add(.renewalInfo, notification.renewalInfo, of: notification)
      add(.appTransaction, notification.appTransaction, of: notification)
    case .v1(let body):
      var row = FlatRow()
      row.add("notificationUUID", notification.id)
      row.add("verified", false)
      row.add("receivedAt", notification.receivedAt)
      row.add("notificationType", body.notification_type?.rawValue)
      row.add("version", "1.0")
      row.add("bundleId", notification.bundleId)
      row.add("environment", notification.environment?.rawValue)
      row.add("bundleVersion", body.bvrs)
      if notification.key != notification.id { row.add("originalTransactionId", notification.key) }
      self.row = row.json
    case .found(let transaction):
      row = nil
      add(.transaction, transaction, of: notification)
    case .request:
      row = nil
    }
  }

  private mutating func add<Object: AppStoreObject>(
    _ kind: DecodedTokenKind, _ object: Object?, of notification: AppStoreNotification
  ) {
    guard let object else { return }
    var row = FlatRow()
    row.add("kind", kind.rawValue)
    if let payload = notification.payload {
      row.add("notificationUUID", notification.id)
      row.add("notificationType", payload.notificationType?.rawValue)
      row.add("subtype", payload.subtype?.rawValue)
    }
    row.add("verified", true)
    row.add("receivedAt", notification.receivedAt)
    row.add(object, .token)
    tokens.append(Token(kind: kind, row: row.json))
  }
}

/// The kind of an inner token.
enum DecodedTokenKind: String, CaseIterable {
  /// `signedTransactionInfo`, or a transaction of the refund history.
  case transaction
  /// `signedRenewalInfo`.
  case renewalInfo = "renewal-info"
  /// `signedAppTransactionInfo`.
  case appTransaction = "app-transaction"
}

extension FlatRow {
  /// Adds the purchase that a notification is about, from the tokens inside it.
  fileprivate mutating func add(subject notification: AppStoreNotification) {
    let (transaction, renewal) = (notification.transaction, notification.renewalInfo)
    add("originalTransactionId", transaction?.originalTransactionId ?? renewal?.originalTransactionId)
    add("transactionId", transaction?.transactionId)
    add("productId", transaction?.productId ?? renewal?.productId)
    add("appAccountToken", transaction?.appAccountToken ?? renewal?.appAccountToken)
  }
}
