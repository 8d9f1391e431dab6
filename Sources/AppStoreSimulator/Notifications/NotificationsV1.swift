// The version 1 notifications for a version 2 notification: their types and bodies. Version 1 has no equivalent for
// some notifications.

internal import AppStore
internal import AppStoreSigning

extension SampleKind {
  /// The version 1 types that Apple's `notification_type` page lists for the same event, in order.
  ///
  /// - Parameter product: the type of the purchased product.
  func typesV1(of product: ProductType, cause: NotificationCause = .itself) -> [NotificationTypeV1] {
    let isSubscription = product == .autoRenewableSubscription
    return switch (type, subtype) {
    case (.subscribed, .initialBuy?), (.offerRedeemed, .initialBuy?): isSubscription ? [.initialBuy] : []
    case (.subscribed, _), (.offerRedeemed, .resubscribe?):
      cause == .sameProduct ? [.didChangeRenewalStatus] : [.interactiveRenewal, .didChangeRenewalStatus]
    case (.didRenew, .billingRecovery?): [.didRecover]
    case (.didRenew, _): [.didRenew]
    case (.didChangeRenewalPref, .upgrade?), (.offerRedeemed, .upgrade?):
      [.didChangeRenewalStatus, .interactiveRenewal]
    case (.didChangeRenewalPref, _), (.offerRedeemed, .downgrade?): [.didChangeRenewalPref]
    // Version 2 sends this before the refund, version 1 after it.
    case (.didChangeRenewalStatus, _): cause == .refund ? [] : [.didChangeRenewalStatus]
    case (.didFailToRenew, _): [.didFailToRenew]
    case (.expired, .billingRetry?): [.didChangeRenewalStatus]
    case (.priceIncrease, .pending?): [.priceIncreaseConsent]
    case (.refund, _) where cause == .refund: [.cancel, .didChangeRenewalStatus]
    case (.refund, _): [isSubscription ? .cancel : .refund]
    case (.revoke, _): [.revoke]
    case (.consumptionRequest, _) where product == .consumable: [.consumptionRequest]
    default: []
    }
  }
}

extension NotificationTypeV1 {
  /// The types that the sandbox sends (`notification_type`, "Test notification events with sandbox").
  static let sandboxed: Set<NotificationTypeV1> = [
    .initialBuy, .didChangeRenewalPref, .didChangeRenewalStatus, .didRenew, .interactiveRenewal, .cancel, .refund,
  ]

  /// Whether the type is sent for a purchase of this ownership (`notification_type`, "Receive notifications for the
  /// purchaser and family members"). The sandbox sends notifications for purchasers only.
  func isSent(of ownership: InAppOwnershipType, in environment: AppStoreEnvironment) -> Bool {
    if environment == .sandbox { return ownership == .purchased && Self.sandboxed.contains(self) }
    switch self {
    case .cancel, .consumptionRequest, .initialBuy, .priceIncreaseConsent, .refund: return ownership == .purchased
    case .revoke: return ownership == .familyShared
    default: return true
    }
  }
}

/// The content of a version 1 body.
struct SubjectV1: Sendable {
  let purchase: PurchaseSubject
  /// The customer's transactions at that time, newest last, at most 100.
  let rows: [PurchaseSubject]
  let signedDate: Timestamp

  static let mostRows = 100

  func body(_ type: NotificationTypeV1) -> [UInt8] {
    let customer = purchase.customer
    let original = String(purchase.transaction.originalId)
    let pending = purchase.subscription.map { subscription in
      var row = PendingRenewalRow(
        productId: customer.app.products[subscription.product].productId, originalTransactionId: original,
        renews: subscription.bills)
      row.autoRenewProductId = purchase.billedProduct?.productId ?? row.productId
      row.promotionalOfferId = purchase.billedOffer?.identifier(ifType: .promotionalOffer)
      row.offerCodeReferenceName = purchase.billedOffer?.identifier(ifType: .offerCode)
      row.expirationIntent = subscription.expirationIntent
      row.isInBillingRetryPeriod = subscription.expirationIntent.map { _ in subscription.retryEnds != nil }
      row.gracePeriodExpiresDate = subscription.graceExpires
      row.priceConsentStatus = subscription.priceIncrease.map {
        $0.isAccepted ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
      }
      return row
    }
    let app = customer.payloadApp
    return bodyV1(
      app, type: type, password: customer.app.sharedSecret, pending: pending, rows: rows.map { row(of: $0) },
      originalTransactionId: original, statusChanged: type == .didChangeRenewalStatus ? signedDate : nil
    ).bytes
  }

  private func row(of subject: PurchaseSubject) -> ReceiptRow {
    let transaction = subject.transaction
    var row = ReceiptRow(
      originalTransactionId: String(transaction.originalId), transactionId: String(transaction.id),
      productId: subject.product.productId, purchaseDate: transaction.purchaseDate,
      originalPurchaseDate: transaction.originalPurchaseDate, ownership: transaction.ownership)
    row.expiresDate = transaction.expires
    // A refund after this notification must not appear in its retries.
    if let revocation = transaction.revocation, revocation.date <= signedDate {
      row.cancellation = (revocation.date, revocation.reason)
    }
    row.isUpgraded = transaction.upgraded.map { $0 <= signedDate } ?? false
    let offer = transaction.offer.map { subject.product.offers[$0] }
    row.isTrial = offer?.discountType == .freeTrial
    row.isInIntroductoryPrice = offer?.type == .introductoryOffer && !row.isTrial
    row.promotionalOfferId = offer?.identifier(ifType: .promotionalOffer)
    row.offerCodeReferenceName = offer?.identifier(ifType: .offerCode)
    row.quantity = transaction.quantity
    row.subscriptionGroupIdentifier = subject.product.isSubscription ? subject.product.group : nil
    row.webOrderLineItemId = transaction.webOrderLineItemId.map { String($0) }
    row.appAccountToken = transaction.appAccountToken?.text
    return row
  }
}

extension Offer {
  fileprivate func identifier(ifType wanted: OfferType) -> String? { type == wanted ? identifier : nil }
}

extension WorldState {
  /// The version 1 types for the same event, in order; empty if version 1 has none.
  func typesV1(of facts: NotificationFacts) -> [NotificationTypeV1] {
    guard case .purchase(let transaction, _, _) = facts.content else { return [] }
    return facts.kind.typesV1(of: product(of: transaction).type, cause: facts.cause)
      .filter { $0.isSent(of: transaction.ownership, in: realms[facts.realm].environment) }
  }

  /// The content of the version 1 body for a record; nil if the record is not about a purchase.
  func subjectV1(of record: NotificationLogEntry) -> SubjectV1? {
    guard case .purchase(let transaction, let subscription, _) = record.facts.content else { return nil }
    let earlier = customers[transaction.customer].transactions.prefix { $0 < transaction.id }
    var rows = earlier.suffix(SubjectV1.mostRows - 1).compactMap { id in transactions[id].map { subject(of: $0, nil) } }
    let purchase = subject(of: transaction, subscription)
    // The notification's own transaction, as it was then. It is not in order of purchase, because Apple's rows are not
    // sorted.
    rows.insert(purchase, at: rows.count / 2)
    return SubjectV1(purchase: purchase, rows: rows, signedDate: record.facts.signedDate)
  }
}
