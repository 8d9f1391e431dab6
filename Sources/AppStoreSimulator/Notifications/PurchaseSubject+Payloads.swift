// Builds the payloads of `signedTransactionInfo` and `signedRenewalInfo`. The same facts at the same time give the same
// bytes.

internal import AppStore
internal import AppStoreSigning

extension PurchaseSubject {
  func transactionPayload(signedDate: Timestamp) -> JSONObject {
    var payload = TransactionPayload(
      transactionId: String(transaction.id), originalTransactionId: String(transaction.originalId),
      bundleId: customer.app.bundleId, productId: product.productId, purchaseDate: transaction.purchaseDate,
      originalPurchaseDate: transaction.originalPurchaseDate, type: product.type, ownership: transaction.ownership,
      signedDate: signedDate, environment: customer.environment, reason: transaction.reason,
      storefront: customer.storefront, storefrontId: Storefronts.identifier(customer.storefront),
      price: transaction.price, currency: product.currency, appTransactionId: String(customer.appTransactionId))
    payload.webOrderLineItemId = transaction.webOrderLineItemId.map { String($0) }
    payload.subscriptionGroupIdentifier = product.isSubscription ? product.group : nil
    payload.expiresDate = transaction.expires
    payload.quantity = transaction.quantity
    payload.appAccountToken = transaction.appAccountToken?.text
    payload.revocation = transaction.revocation
    payload.isUpgraded = transaction.upgraded != nil
    payload.offer = transaction.offer.map { product.offers[$0].payload }
    payload.advancedCommerceInfo = advancedCommerce?.json()
    if let commitment = transaction.commitment {
      payload.billingPlanType = .monthly
      payload.commitmentInfo = commitment.info
    }
    return payload.json
  }

  /// Returns the renewal info payload, or nil for a one-time purchase.
  ///
  /// - Parameter type: the type of the notification that contains it; nil for an API response.
  func renewalPayload(signedDate: Timestamp, in type: NotificationTypeV2? = nil) -> JSONObject? {
    guard let subscription, let billedProduct else { return nil }
    let present = customer.app.products[subscription.product]
    var payload = RenewalPayload(
      originalTransactionId: String(subscription.originalTransactionId), autoRenewProductId: billedProduct.productId,
      productId: present.productId, autoRenewStatus: subscription.bills ? .on : .off,
      signedDate: signedDate, environment: customer.environment, recentSubscriptionStartDate: subscription.started,
      renewalDate: subscription.expires, appTransactionId: String(customer.appTransactionId))
    payload.expirationIntent = subscription.expirationIntent
    if subscription.expirationIntent != nil { payload.isInBillingRetryPeriod = subscription.retryEnds != nil }
    payload.priceIncreaseStatus = subscription.priceIncrease.map {
      $0.isAccepted ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
    }
    payload.gracePeriodExpiresDate = subscription.graceExpires
    payload.offer = billedOffer?.payload
    payload.eligibleWinBackOfferIds = subscription.winBackOffers(of: present)
    // If the subscription does not renew, Apple omits price and currency, except in a REFUND notification.
    if subscription.bills || type == .refund {
      payload.renewalPrice = (subscription.billedPrice, billedProduct.currency)
    }
    // A family member has no commitment.
    if subscription.bills, subscription.ownership == .purchased, billedProduct.commitment != nil {
      payload.renewalBillingPlanType = .monthly
    }
    payload.commitmentInfo = nextCommitment
    payload.appAccountToken = subscription.appAccountToken?.text
    payload.advancedCommerceInfo = advancedCommerce?.json(
      consistencyToken: subscription.advancedCommerce.map { "\($0.reference.text)/\($0.revision)" })
    return payload.json
  }

  private var nextCommitment: RenewalCommitmentInfo? {
    guard let subscription, let commitment = subscription.commitment, let nextProduct else { return nil }
    var info = RenewalCommitmentInfo(json: [:])
    info.commitmentAutoRenewProductId = nextProduct.productId
    info.commitmentAutoRenewStatus = subscription.renews ? .on : .off
    info.commitmentRenewalDate = commitment.ends
    if subscription.renews {
      info.commitmentRenewalBillingPlanType = nextProduct.commitment == nil ? nil : .monthly
      info.commitmentRenewalPrice = subscription.renewalPrice * (nextProduct.commitment ?? 1)
    }
    return info
  }

  private var advancedCommerce: AdvancedCommercePayload? {
    subscription?.advancedCommerce.map { facts in
      AdvancedCommercePayload(
        requestReferenceId: facts.reference.text, period: product.period.description,
        displayName: "Plan, revision \(facts.revision)", sku: product.productId, price: facts.price)
    }
  }
}

extension SubscriptionFacts {
  /// The win-back offers for a customer who has left, the best first. In a grace period or billing retry there are none.
  fileprivate func winBackOffers(of product: Product) -> [String]? {
    guard status == .expired, hasPaidPeriod, ownership == .purchased else { return nil }
    let offers = product.offers.filter { $0.type == .winBackOffer }.sorted { $0.isBetter(than: $1) }
    return offers.isEmpty ? nil : offers.map(\.identifier)
  }
}

extension CommitmentFacts {
  fileprivate var info: TransactionCommitmentInfo {
    var info = TransactionCommitmentInfo(json: [:])
    info.billingPeriodNumber = number
    info.commitmentExpiresDate = ends
    info.commitmentPrice = price
    info.totalBillingPeriods = total
    return info
  }
}

extension Offer {
  var payload: OfferPayload {
    OfferPayload(type: type, identifier: identifier, discountType: discountType, period: period.description)
  }
}
