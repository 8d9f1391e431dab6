// Family Sharing. A family member's subscription follows the purchaser's, with its own transactions.

package import AppStore

/// A family member who shares a purchase.
struct FamilyMember: Sendable, Hashable {
  /// `originalTransactionId` of the member's own subscription or purchase.
  let original: Int64
  /// The purchaser's transaction that the member's current transaction belongs to.
  var follows: Int64
}

extension WorldState {
  /// The largest number of family members who can share a purchase.
  static let largestFamily = 5

  /// Shares a purchase with a family member: SUBSCRIBED/INITIAL_BUY, or ONE_TIME_CHARGE for a non-consumable, with
  /// `FAMILY_SHARED`.
  ///
  /// From then on, the member receives the same notifications as the purchaser, except those about prices and refunds.
  /// A refund is sent as REVOKE.
  ///
  /// - Parameter original: the purchaser's `originalTransactionId`.
  /// - Returns: the member's `originalTransactionId`.
  @discardableResult
  package mutating func share(_ original: Int64, at now: Timestamp) throws(WorldError) -> Int64 {
    let subscription = subscriptions[original]
    let purchase = try transaction(subscription?.transactionId ?? original)
    let product = product(of: purchase)
    guard product.isSubscription || product.type == .nonConsumable else {
      throw .impossible("\(product.productId) cannot be shared; share a subscription or a non-consumable")
    }
    guard purchase.ownership == .purchased, purchase.revocation == nil, subscription?.givesService ?? true else {
      throw .impossible("transaction \(original) cannot be shared: it is not an active purchase")
    }
    guard families[original, default: []].count < Self.largestFamily else {
      throw .impossible("transaction \(original) is already shared with \(Self.largestFamily) others")
    }
    let purchaser = customers[purchase.customer]
    let member = try addCustomer(to: purchaser.realm, storefront: purchaser.storefront, at: now)
    let own =
      subscription == nil
      ? buyOnce(
        purchase.product, by: member, offer: nil, quantity: 1, ownership: .familyShared, appAccountToken: nil, at: now)
      : subscribe(
        to: purchase.product, by: member, offer: nil, ownership: .familyShared, sharedBy: original,
        appAccountToken: nil, at: now)
    families[original, default: []].append(FamilyMember(original: own, follows: purchase.id))
    if subscription != nil {
      adopt(own, from: original, at: now)
      emit(.subscribed, .initialBuy, about: own, at: now)
    }
    return own
  }

  /// Sends a notification about a subscription, first for its purchaser and then for each family member who shares it.
  mutating func announce(
    _ type: NotificationTypeV2, _ subtype: Subtype? = nil, of original: Int64, cause: NotificationCause = .itself,
    at now: Timestamp
  ) {
    guard let subscription = subscriptions[original] else { return }
    emit(type, subtype, about: subscription.transactionId, cause: cause, at: now)
    guard let family = families[original] else { return }
    for (place, member) in family.enumerated() {
      if member.follows != subscription.transactionId, let present = transactions[subscription.transactionId] {
        beginPeriod(
          member.original, id: takeTransactionId(), product: subscription.product, offer: nil, reason: present.reason,
          from: present.purchaseDate, at: now)
        families[original]?[place].follows = present.id
      }
      adopt(member.original, from: original, at: now)
      guard let own = subscriptions[member.original] else { continue }
      emit(type, subtype, about: own.transactionId, cause: cause, at: now)
    }
  }

  /// Ends the sharing of a refunded purchase: REVOKE for each family member, with the reason of the purchaser's refund.
  mutating func endSharing(
    of original: Int64, reason: RevocationReason, at now: Timestamp
  ) throws(WorldError) {
    for member in families.removeValue(forKey: original) ?? [] {
      guard let own = transactions[subscriptions[member.original]?.transactionId ?? member.original],
        own.revocation == nil
      else { continue }
      try revoke(own.id, reason: reason, at: now)
    }
  }

  /// Copies the state of the purchaser's subscription to a member's subscription.
  private mutating func adopt(_ original: Int64, from purchaser: Int64, at now: Timestamp) {
    guard let theirs = subscriptions[purchaser], var own = subscriptions[original] else { return }
    own.nextProduct = theirs.billedProduct
    own.renewalPrice = theirs.billedPrice
    own.renews = theirs.bills
    own.status = theirs.status
    own.expires = theirs.expires
    own.graceExpires = theirs.graceExpires
    own.retryEnds = theirs.retryEnds
    own.expirationIntent = theirs.expirationIntent
    setEnd(of: &own, at: now)
  }
}
