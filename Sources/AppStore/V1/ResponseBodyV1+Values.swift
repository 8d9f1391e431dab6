// The typed values of a version 1 notification: its app, its environment and its ordering key.

extension ResponseBodyV1 {
  /// The environment, with the name from version 2: `PROD` is ``AppStoreEnvironment/production``. It comes from the
  /// body, otherwise from its receipt. Undocumented text remains an unknown environment.
  public var appStoreEnvironment: AppStoreEnvironment? {
    guard let text = environment ?? unified_receipt?.environment else { return nil }
    return text == "PROD" ? .production : AppStoreEnvironment(rawValue: text)
  }

  /// The bundle identifier of the app: `bid`, or in old bodies the bundle identifier of a transaction; nil if there is
  /// none.
  public var bundleId: String? {
    bid ?? receiptRows.lazy.compactMap(\.bid).first
  }

  /// Whether the subscription will renew, from `auto_renew_status`.
  public var autoRenewStatus: AutoRenewStatus? {
    flag(auto_renew_status).map { $0 ? .on : .off }
  }

  /// The time at which ``autoRenewStatus`` changed, from `auto_renew_status_change_date_ms`.
  public var autoRenewStatusChangeDate: Timestamp? { moment(auto_renew_status_change_date_ms) }

  /// The reason the subscription expired, from `expiration_intent`.
  public var expirationIntent: ExpirationIntent? {
    expiration_intent.flatMap { Int(exactly: $0.value) }.map(ExpirationIntent.init(rawValue:))
  }

  /// The time at which the transaction of an old body was refunded, from `cancellation_date_ms`.
  public var cancellationDate: Timestamp? { moment(cancellation_date_ms) }

  /// All transactions of the body, from `unified_receipt`, `latest_receipt_info` and `latest_expired_receipt_info`.
  /// Their order has no meaning.
  public var receiptRows: [LatestReceiptInfo] {
    (unified_receipt?.latest_receipt_info ?? []) + (latest_receipt_info?.rows ?? [])
      + (latest_expired_receipt_info?.rows ?? [])
  }

  /// The key that orders this notification: its original transaction; nil if it names none.
  ///
  /// It is the body's own `original_transaction_id`. Otherwise it comes from the row that was refunded last or, if no
  /// row was refunded, from the row that was purchased last. Rows without an original transaction are ignored, rows
  /// without a date rank last, and of rows with the same date the first one wins.
  public var orderingKey: String? {
    if let own = original_transaction_id, !own.isEmpty { return own }
    let rows = receiptRows.filter { $0.original_transaction_id?.isEmpty == false }
    let refunded = rows.filter { $0.cancellationDate != nil }
    let newest =
      refunded.isEmpty
      ? rows.max { Self.isEarlier($0.purchaseDate, $1.purchaseDate) }
      : refunded.max { Self.isEarlier($0.cancellationDate, $1.cancellationDate) }
    return newest?.original_transaction_id
  }

  private static func isEarlier(_ one: Timestamp?, _ other: Timestamp?) -> Bool {
    guard let other else { return false }
    return one.map { $0 < other } ?? true
  }
}
