// Renewal dates that are extended. Who may have one is not decided here.

public import AppStore
internal import AppStoreSigning

extension WorldState {
  /// The present period ends so many days later: RENEWAL_EXTENDED, for everybody who shares the subscription as well. In
  /// a grace period billing stops to try again until the new date.
  ///
  /// - Returns: the new end.
  @discardableResult
  public mutating func extendRenewal(
    _ original: Int64, byDays days: Int, at now: Timestamp
  ) throws(WorldError) -> Timestamp {
    let subscription = try self.subscription(original)
    let expires = subscription.expires + .seconds(86_400 * days)
    subscriptions[original]?.expires = expires
    subscriptions[original]?.extensions.append(now)
    if subscription.status == .billingGracePeriod {
      subscriptions[original]?.status = .active
      subscriptions[original]?.graceExpires = nil
      subscriptions[original]?.retryEnds = nil
      subscriptions[original]?.expirationIntent = nil
    }
    transactions[subscription.transactionId]?.expires = expires
    transactions[subscription.transactionId]?.modified = now
    planEnd(of: original)
    announce(.renewalExtended, of: original, at: now)
    return expires
  }

  /// A mass extension does not reach this subscription: RENEWAL_EXTENSION/FAILURE, which names neither request nor days.
  public mutating func failExtension(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    emit(.renewalExtension, .failure, about: subscription.transactionId, at: now)
  }

  /// A mass extension is complete: RENEWAL_EXTENSION/SUMMARY.
  ///
  /// - Parameter storefronts: those the request named; nil: every storefront.
  public mutating func summarizeExtension(
    in realm: RealmID, productId: String, requestIdentifier: String, storefronts: [String]?, succeeded: Int64,
    failed: Int64, at now: Timestamp
  ) {
    emit(
      SampleKind(.renewalExtension, .summary),
      .summary(
        ExtensionSummary(
          productId: productId, requestIdentifier: requestIdentifier, storefronts: storefronts, succeeded: succeeded,
          failed: failed)), in: realm, at: now)
  }
}
