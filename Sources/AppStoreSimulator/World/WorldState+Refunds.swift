// Refunds: requests, decisions, reversals, and the end of Family Sharing.

package import AppStore
internal import AppStoreSigning

extension WorldState {
  /// A full refund, as a percentage in milliunits.
  package static let wholePrice: Int64 = 100_000

  /// Requests a refund, or asks again about a request: CONSUMPTION_REQUEST, "for any product type" according to Send
  /// Consumption Information. The older `notificationType` page names two of the four types. If the request is about the
  /// current period of a subscription, the App Store turns auto-renewal off first: DID_CHANGE_RENEWAL_STATUS.
  ///
  /// - Returns: `notificationUUID`; nil if no notification is sent.
  @discardableResult
  package mutating func requestRefund(
    _ transactionId: Int64, reason: ConsumptionRequestReason = .unintendedPurchase, at now: Timestamp
  ) throws(WorldError) -> CompactUUID? {
    let transaction = try self.transaction(transactionId)
    guard transaction.revocation == nil else { throw .impossible("transaction \(transactionId) is refunded already") }
    guard transaction.ownership == .purchased else {
      throw .impossible("transaction \(transactionId) was not bought by this customer")
    }
    refundRequests[transactionId] = RefundRequest(asked: now, reason: reason)
    if let subscription = subscriptions[transaction.originalId], subscription.transactionId == transactionId,
      subscription.status != .expired, subscription.status != .revoked
    {
      try setRenewal(transaction.originalId, isOn: false, at: now)
    }
    return emit(.consumptionRequest, about: transactionId, reason: reason, at: now)
  }

  /// Refunds a transaction: REFUND. If the current period is refunded without a request that has turned auto-renewal off,
  /// DID_CHANGE_RENEWAL_STATUS comes first. REVOKE follows for each family member who shared the purchase.
  ///
  /// A refund of an earlier period does not change the subscription.
  ///
  /// - Parameters:
  ///   - percentage: the refunded percentage in milliunits, above 0. Less than 100 000 is a prorated refund.
  ///   - reason: nil to follow the customer's request.
  package mutating func refund(
    _ transactionId: Int64, percentage: Int64 = wholePrice, reason: RevocationReason? = nil, at now: Timestamp
  ) throws(WorldError) {
    let transaction = try self.transaction(transactionId)
    guard transaction.revocation == nil else { throw .impossible("transaction \(transactionId) is refunded already") }
    let request = refundRequests.removeValue(forKey: transactionId)
    let reason = reason ?? request?.reason.revocationReason ?? .refundedForOtherReason
    let isPresent = subscriptions[transaction.originalId]?.transactionId == transactionId
    let endsRenewal = isPresent && subscriptions[transaction.originalId]?.bills == true
    if endsRenewal {
      subscriptions[transaction.originalId]?.renews = false
      subscriptions[transaction.originalId]?.commitment = nil
      emit(.didChangeRenewalStatus, .autoRenewDisabled, about: transactionId, cause: .refund, at: now)
    }
    let whole = percentage >= Self.wholePrice
    transactions[transactionId]?.revocation = .init(
      date: now, reason: reason, type: whole ? .refundFull : .refundProrated,
      percentage: max(1, min(percentage, Self.wholePrice)))
    transactions[transactionId]?.modified = now
    if isPresent { endByRevocation(transaction.originalId) }
    emit(.refund, about: transactionId, cause: endsRenewal ? .refund : .itself, at: now)
    if isPresent || subscriptions[transaction.originalId] == nil {
      try endSharing(of: transaction.originalId, reason: reason, at: now)
    }
  }

  /// Declines a refund: REFUND_DECLINED.
  package mutating func declineRefund(_ transactionId: Int64, at now: Timestamp) throws(WorldError) {
    let transaction = try self.transaction(transactionId)
    guard transaction.revocation == nil else { throw .impossible("transaction \(transactionId) is refunded already") }
    refundRequests[transactionId] = nil
    emit(.refundDeclined, about: transactionId, at: now)
  }

  /// Reverses a refund after a dispute: REFUND_REVERSED. The renewal date does not change.
  package mutating func reverseRefund(_ transactionId: Int64, at now: Timestamp) throws(WorldError) {
    let transaction = try self.transaction(transactionId)
    guard let revocation = transaction.revocation, revocation.type != .familyRevoke else {
      throw .impossible("transaction \(transactionId) is not refunded")
    }
    transactions[transactionId]?.revocation = nil
    transactions[transactionId]?.modified = now
    if let subscription = subscriptions[transaction.originalId], subscription.transactionId == transactionId,
      subscription.status == .revoked
    {
      subscriptions[transaction.originalId]?.status = subscription.expires > now ? .active : .expired
      subscriptions[transaction.originalId]?.expirationIntent = subscription.expires > now ? nil : .customerCancelled
    }
    emit(.refundReversed, about: transactionId, at: now)
  }

  /// Ends the sharing of a purchase with a family member: REVOKE. The purchase must be family-shared.
  ///
  /// - Parameter reason: the reason of the purchaser's refund; the default applies if a member leaves or the purchaser
  ///   stops sharing.
  package mutating func revoke(
    _ transactionId: Int64, reason: RevocationReason = .refundedForOtherReason, at now: Timestamp
  ) throws(WorldError) {
    let transaction = try self.transaction(transactionId)
    guard transaction.ownership == .familyShared, transaction.revocation == nil else {
      throw .impossible("transaction \(transactionId) is not shared by a family")
    }
    transactions[transactionId]?.revocation = .init(
      date: now, reason: reason, type: .familyRevoke, percentage: nil)
    transactions[transactionId]?.modified = now
    if let purchaser = subscriptions[transaction.originalId]?.sharedBy {
      families[purchaser]?.removeAll { $0.original == transaction.originalId }
    }
    if subscriptions[transaction.originalId]?.transactionId == transactionId {
      subscriptions[transaction.originalId]?.renews = false
      endByRevocation(transaction.originalId)
    }
    emit(.revoke, about: transactionId, at: now)
  }

  private mutating func endByRevocation(_ original: Int64) {
    subscriptions[original]?.status = .revoked
    subscriptions[original]?.commitment = nil
    subscriptions[original]?.graceExpires = nil
    subscriptions[original]?.retryEnds = nil
  }
}

extension ConsumptionRequestReason {
  /// The reason of a refund that was requested for this reason.
  fileprivate var revocationReason: RevocationReason {
    self == .fulfillmentIssue ? .refundedDueToIssue : .refundedForOtherReason
  }
}
