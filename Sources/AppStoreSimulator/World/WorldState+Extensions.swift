// Extends renewal dates. The caller checks eligibility.

package import AppStore
internal import AppStoreSigning

extension WorldState {
  /// Extends the current period by a number of days: RENEWAL_EXTENDED, also for family members who share the
  /// subscription. In a grace period, billing retries stop until the new date.
  ///
  /// - Returns: the new end of the period.
  @discardableResult
  package mutating func extendRenewal(
    _ original: Int64, byDays days: Int, at now: Timestamp
  ) throws(WorldError) -> Timestamp {
    let subscription = try self.subscription(original)
    let expires = subscription.expires + .seconds(86_400 * days)
    subscriptions[original]?.expires = expires
    if let ends = subscription.commitment?.ends {
      subscriptions[original]?.commitment?.ends = ends + .seconds(86_400 * days)
    }
    subscriptions[original]?.extensions.append(now)
    if subscription.status == .billingGracePeriod {
      subscriptions[original]?.status = .active
      subscriptions[original]?.graceExpires = nil
      subscriptions[original]?.retryEnds = nil
      subscriptions[original]?.expirationIntent = nil
    }
    transactions[subscription.transactionId]?.expires = expires
    transactions[subscription.transactionId]?.commitment = subscriptions[original]?.commitment
    transactions[subscription.transactionId]?.modified = now
    planEnd(of: original)
    announce(.renewalExtended, of: original, at: now)
    return expires
  }

  /// Fails a mass extension for this subscription: RENEWAL_EXTENSION/FAILURE, which names neither the request nor the
  /// days.
  package mutating func failExtension(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    emit(.renewalExtension, .failure, about: subscription.transactionId, at: now)
  }

  /// Completes a mass extension: RENEWAL_EXTENSION/SUMMARY.
  ///
  /// - Parameter storefronts: the storefronts that the request named; nil for every storefront.
  mutating func summarizeExtension(
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
