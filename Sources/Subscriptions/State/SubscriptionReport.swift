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
    guard Self.isAboutSubscription(notification, transaction, renewal), let id = notification.notificationUUID else {
      return nil
    }
    self.init(
      transaction, renewal, status: notification.data?.status, signedDate: notification.signedDate,
      cause: Cause(kind: .notification(notification.notificationType, notification.subtype), id: id))
    if notification.notificationType == .refundReversed, var reversed = period {
      reversed.lastReversed = reversed.signedDate
      period = reversed
    }
    bundleId = bundleId ?? notification.data?.bundleId
    environment = environment ?? notification.data?.environment
  }

  /// Whether a notification is about a subscription. A transaction without its type is one's if the notification has
  /// what only subscriptions have.
  static func isAboutSubscription(
    _ notification: ResponseBodyV2DecodedPayload, _ transaction: JWSTransactionDecodedPayload?,
    _ renewal: JWSRenewalInfoDecodedPayload?
  ) -> Bool {
    guard let transaction else { return renewal != nil }
    if let type = transaction.type { return type == .autoRenewableSubscription }
    return renewal != nil || transaction.subscriptionGroupIdentifier != nil || notification.data?.status != nil
  }

  /// Reads an item of *Get All Subscription Statuses* with its decoded tokens.
  /// - Returns: Nil if the item has no token.
  init?(
    status: Status?, transaction: JWSTransactionDecodedPayload?, renewal: JWSRenewalInfoDecodedPayload?, cause: Cause
  ) {
    guard transaction != nil || renewal != nil else { return nil }
    self.init(transaction, renewal, status: status, signedDate: nil, cause: cause)
  }

  private init(
    _ transaction: JWSTransactionDecodedPayload?, _ renewal: JWSRenewalInfoDecodedPayload?, status: Status?,
    signedDate: Timestamp?, cause: Cause
  ) {
    // Notifications of early 2022 have no signature time of their own. A token without one was signed with the others.
    // Without any time, every other report has precedence.
    let newest = [transaction?.signedDate, renewal?.signedDate].compactMap(\.self).max()
    let signedDate = signedDate ?? newest ?? Timestamp(millisecondsSince1970: 0)
    period = transaction.flatMap { Period($0, signedBy: signedDate) }
    self.renewal = renewal.map { RenewalSettings($0, signedBy: signedDate) }
    bundleId = transaction?.bundleId
    environment = transaction?.environment ?? renewal?.environment
    statement = Statement(
      status: status, signedDate: signedDate, purchaseDate: period?.purchaseDate,
      transactionSignedDate: period?.signedDate, cause: cause)
  }
}
