// Family Sharing: who shares a subscription goes through what its purchaser goes through, with transactions of their own.

public import AppStore

/// Somebody with whom a purchase is shared.
struct FamilyMember: Sendable, Hashable {
  /// `originalTransactionId` of the member's own.
  let original: Int64
  /// The purchaser's transaction that the member's present one belongs to.
  var follows: Int64
}

extension WorldState {
  /// With how many others a purchase can be shared.
  static let largestFamily = 5

  /// A family member gets what somebody bought: SUBSCRIBED/INITIAL_BUY, or ONE_TIME_CHARGE for a non-consumable, with
  /// `FAMILY_SHARED`.
  ///
  /// From then on the member hears what the purchaser hears, but of prices and refunds; a refund is told as REVOKE.
  ///
  /// - Parameter original: the purchaser's `originalTransactionId`.
  /// - Returns: the member's.
  @discardableResult
  public mutating func share(_ original: Int64, at now: Timestamp) throws(WorldError) -> Int64 {
    let subscription = subscriptions[original]
    let purchase = try transaction(subscription?.transactionId ?? original)
    let product = product(of: purchase)
    guard product.isSubscription || product.type == .nonConsumable else {
      throw .impossible("\(product.productId) is nothing that families share")
    }
    guard purchase.ownership == .purchased, purchase.revocation == nil, subscription?.givesService ?? true else {
      throw .impossible("transaction \(original) gives nothing that could be shared")
    }
    guard families[original, default: []].count < Self.largestFamily else {
      throw .impossible("transaction \(original) is shared with \(Self.largestFamily) others already")
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

  /// Tells what happened to a subscription, to its purchaser first and then to everybody who shares it.
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

  /// Nothing of a refunded purchase is shared any more: REVOKE for each who did.
  mutating func endSharing(of original: Int64, at now: Timestamp) throws(WorldError) {
    for member in families.removeValue(forKey: original) ?? [] {
      guard let own = transactions[subscriptions[member.original]?.transactionId ?? member.original],
        own.revocation == nil
      else { continue }
      try revoke(own.id, at: now)
    }
  }

  /// A member's subscription stands as the purchaser's does.
  private mutating func adopt(_ original: Int64, from purchaser: Int64, at now: Timestamp) {
    guard let theirs = subscriptions[purchaser], var own = subscriptions[original] else { return }
    own.nextProduct = theirs.nextProduct
    own.renewalPrice = theirs.renewalPrice
    own.renews = theirs.renews
    own.status = theirs.status
    own.expires = theirs.expires
    own.graceExpires = theirs.graceExpires
    own.retryEnds = theirs.retryEnds
    own.expirationIntent = theirs.expirationIntent
    setEnd(of: &own, at: now)
  }
}
