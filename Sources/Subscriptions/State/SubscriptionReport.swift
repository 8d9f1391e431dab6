// Reads reports about subscriptions from notifications and from answers of Apple's API.

internal import AppStore

/// A report about one subscription.
struct SubscriptionReport: Sendable, Hashable {
  var period: Period?
  var renewal: RenewalSettings?
  var statement: Statement
  var bundleId: String?
  var environment: AppStoreEnvironment?

  /// Reads a version 2 notification with its decoded tokens.
  /// - Returns: Nil if the notification is not about a subscription, for example a test or a summary.
  init?(
    _ notification: ResponseBodyV2DecodedPayload, transaction: JWSTransactionDecodedPayload?,
    renewal: JWSRenewalInfoDecodedPayload?
  ) {
    if let transaction, transaction.type != .autoRenewableSubscription { return nil }
    guard let id = notification.notificationUUID, transaction != nil || renewal != nil else { return nil }
    self.init(
      transaction, renewal, status: notification.data?.status, signedDate: notification.signedDate,
      cause: Cause(kind: .notification(notification.notificationType, notification.subtype), id: id))
    bundleId = bundleId ?? notification.data?.bundleId
    environment = environment ?? notification.data?.environment
  }

  /// Reads an item of *Get All Subscription Statuses* with its decoded tokens.
  /// - Returns: Nil if no token has a signature time.
  init?(
    status: Status?, transaction: JWSTransactionDecodedPayload?, renewal: JWSRenewalInfoDecodedPayload?, cause: Cause
  ) {
    self.init(transaction, renewal, status: status, signedDate: nil, cause: cause)
  }

  private init?(
    _ transaction: JWSTransactionDecodedPayload?, _ renewal: JWSRenewalInfoDecodedPayload?, status: Status?,
    signedDate: Timestamp?, cause: Cause
  ) {
    period = transaction.flatMap { Period($0) }
    bundleId = transaction?.bundleId
    environment = transaction?.environment ?? renewal?.environment
    self.renewal = renewal.flatMap { RenewalSettings($0) }
    // Notifications of early 2022 have no signature time of their own.
    let newest = [period?.signedDate, self.renewal?.signedDate].compactMap(\.self).max()
    guard let signedDate = signedDate ?? newest else { return nil }
    statement = Statement(
      status: status, signedDate: signedDate, purchaseDate: period?.purchaseDate,
      transactionSignedDate: period?.signedDate, cause: cause)
  }
}
