// What a version 1 notification means: whose it is, where it comes from, what orders it.

extension ResponseBodyV1 {
  /// The environment in the words of version 2: `PROD` is ``AppStoreEnvironment/production``. From the body, else from
  /// its receipt. Text that Apple does not document stays what it is, an unknown environment.
  public var appStoreEnvironment: AppStoreEnvironment? {
    guard let text = environment ?? unified_receipt?.environment else { return nil }
    return text == "PROD" ? .production : AppStoreEnvironment(rawValue: text)
  }

  /// The bundle that the notification is for: `bid`, in old bodies that of a transaction; nil when none says.
  public var bundleId: String? {
    bid ?? receiptRows.lazy.compactMap(\.bid).first
  }

  /// Whether the subscription will renew, from `auto_renew_status`.
  public var autoRenewStatus: AutoRenewStatus? {
    flag(auto_renew_status).map { $0 ? .on : .off }
  }

  /// When ``autoRenewStatus`` changed, from `auto_renew_status_change_date_ms`.
  public var autoRenewStatusChangeDate: Timestamp? { moment(auto_renew_status_change_date_ms) }

  /// Why the subscription expired, from `expiration_intent`.
  public var expirationIntent: ExpirationIntent? {
    expiration_intent.flatMap { Int(exactly: $0.value) }.map(ExpirationIntent.init(rawValue:))
  }

  /// When the transaction of an old body was refunded, from `cancellation_date_ms`.
  public var cancellationDate: Timestamp? { moment(cancellation_date_ms) }

  /// Every transaction of the body: those of `unified_receipt`, of `latest_receipt_info` and of
  /// `latest_expired_receipt_info`, in the order they came, which says nothing.
  public var receiptRows: [LatestReceiptInfo] {
    (unified_receipt?.latest_receipt_info ?? []) + (latest_receipt_info?.rows ?? [])
      + (latest_expired_receipt_info?.rows ?? [])
  }

  /// What orders this notification among others: the original transaction that it is about; nil when it names none.
  ///
  /// The body's own `original_transaction_id`; else that of the row refunded last; when no row was refunded, that of the
  /// row bought last. Rows without an original transaction do not count, rows without a date come last, and of rows with
  /// one date the first stands.
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
