// The events of a change: what a consumer has to know about the difference between two states. They follow from the
// states. The type of the notification only decides between names for the same difference.

internal import AppStore

/// The name of an event without ``prefix``.
enum SubscriptionEvent: String, Sendable, Hashable, CaseIterable {
  case started, renewed, resubscribed, recovered, upgraded, expired, revoked, reinstated, extended, corrected
  case productChangeScheduled = "product-change-scheduled"
  case productChangeCancelled = "product-change-cancelled"
  case renewalDisabled = "renewal-disabled"
  case renewalEnabled = "renewal-enabled"
  case commitmentRenewalDisabled = "commitment-renewal-disabled"
  case commitmentRenewalEnabled = "commitment-renewal-enabled"
  case gracePeriodEntered = "grace-period-entered"
  case billingRetryEntered = "billing-retry-entered"
  case offerRedeemed = "offer-redeemed"
  case priceIncreasePending = "price-increase-pending"
  case priceIncreaseAccepted = "price-increase-accepted"

  static let prefix = "subscription."
}

extension Subscription {
  /// Returns the events that lead from `before` to this state, the most important first. Empty if nothing changed that
  /// a consumer has to know.
  func events(since before: Subscription?, cause: Cause) -> [SubscriptionEvent] {
    guard let before else { return firstEvents(cause) }
    let main = mainEvent(since: before, cause)
    return (main.map { [$0] } ?? []) + settingEvents(since: before, main)
  }

  /// The events of the first report. A customer from before Millrace did not start now, and an import publishes
  /// nothing.
  private func firstEvents(_ cause: Cause) -> [SubscriptionEvent] {
    guard case .notification(let type, let subtype) = cause.kind else { return [] }
    let isFirstPeriod = period.originalPurchaseDate.map { $0 == period.purchaseDate } ?? true
    let main: SubscriptionEvent? =
      switch status {
      case .expired: .expired
      case .revoked: .revoked
      case .billingRetry: .billingRetryEntered
      case .gracePeriod: .gracePeriodEntered
      case .active:
        switch (type, subtype) {
        case (.subscribed, .initialBuy), (.offerRedeemed, .initialBuy): .started
        case (.subscribed, .resubscribe), (.offerRedeemed, .resubscribe): .resubscribed
        case (.subscribed, _): isFirstPeriod ? .started : .resubscribed
        case (.didChangeRenewalPref, .upgrade), (.offerRedeemed, .upgrade): .upgraded
        case (.didRenew, _): .renewed
        case (.renewalExtended, _): .extended
        case (.refundReversed, _): .reinstated
        default: nil
        }
      }
    // Compared with a subscription that renews as it is.
    var plain = self
    plain.renewal = renewal
    plain.renewal?.autoRenewStatus = .on
    plain.renewal?.productId = renewal?.currentProductId ?? period.productId
    plain.renewal?.nextCommitment?.autoRenewStatus = .on
    plain.renewal?.priceIncrease = nil
    plain.renewal?.offer = nil
    if main == nil, type != .offerRedeemed { plain.period.offer = period.offer } else { plain.period.offer = nil }
    return (main.map { [$0] } ?? []) + settingEvents(since: plain, main)
  }

  /// The change of status or period.
  private func mainEvent(since before: Subscription, _ cause: Cause) -> SubscriptionEvent? {
    let isNewPeriod = period.transactionId != before.period.transactionId
    let isEntitled = status == .active || status == .gracePeriod
    if status != before.status {
      switch (before.status, status) {
      case (_, .revoked): return .revoked
      case (_, .expired): return .expired
      case (_, .billingRetry): return .billingRetryEntered
      case (.revoked, _) where isEntitled && !isNewPeriod: return .reinstated
      case (.revoked, .active), (.expired, .active):
        return isNewPeriod ? .resubscribed : changeOfEnd(since: before) ?? .corrected
      case (.billingRetry, .active), (.gracePeriod, .active):
        return isNewPeriod ? .recovered : changeOfEnd(since: before) ?? .corrected
      case (_, .gracePeriod): return .gracePeriodEntered
      case (.active, .active): return nil
      }
    }
    guard isEntitled else { return nil }
    guard isNewPeriod else { return changeOfEnd(since: before) }
    // The period of an upgrade begins before the previous one ends.
    if period.productId != before.period.productId, let end = before.period.expiresDate, period.purchaseDate < end {
      return .upgraded
    }
    guard period.isLater(than: before.period) else { return .corrected }
    if case .notification(.subscribed?, let subtype) = cause.kind, subtype != .initialBuy { return .resubscribed }
    return .renewed
  }

  private func changeOfEnd(since before: Subscription) -> SubscriptionEvent? {
    guard let old = before.period.expiresDate, let new = period.expiresDate, old != new else { return nil }
    return new > old ? .extended : .corrected
  }

  /// The changes of renewal settings, price and offer.
  private func settingEvents(since before: Subscription, _ main: SubscriptionEvent?) -> [SubscriptionEvent] {
    // After the end of a subscription its settings have no effect.
    guard status != .expired, status != .revoked else { return [] }
    var events: [SubscriptionEvent] = []
    let isNew: Bool =
      switch main {
      case .started, .resubscribed, .renewed, .recovered, .upgraded, .reinstated: true
      default: false
      }
    if let renews = renewal?.autoRenewStatus, let renewed = before.renewal?.autoRenewStatus, renews != renewed {
      // Whoever subscribes or renews has the renewal enabled.
      if renews == .off { events.append(.renewalDisabled) } else if !isNew { events.append(.renewalEnabled) }
    }
    // Billing continues until the commitment ends.
    if let renews = renewal?.nextCommitment?.autoRenewStatus,
      let renewed = before.renewal?.nextCommitment?.autoRenewStatus, renews != renewed
    {
      if renews == .off {
        events.append(.commitmentRenewalDisabled)
      } else if !isNew {
        events.append(.commitmentRenewalEnabled)
      }
    }
    if scheduledProduct != before.scheduledProduct {
      if scheduledProduct != nil {
        events.append(.productChangeScheduled)
      } else if !isNew {
        events.append(.productChangeCancelled)
      }
    }
    if let increase = renewal?.priceIncrease, increase != before.renewal?.priceIncrease {
      switch increase {
      case .customerHasNotResponded: events.append(.priceIncreasePending)
      case .customerConsentedOrWasNotifiedWithoutNeedingConsent: events.append(.priceIncreaseAccepted)
      default: break
      }
    }
    let isRedeemed = period.offer?.isChosen == true && (isNew || period.offer != before.period.offer)
    let isScheduled = renewal?.offer?.isChosen == true && renewal?.offer != before.renewal?.offer && !isRedeemed
    if (isRedeemed && period.offer != before.renewal?.offer) || isScheduled { events.append(.offerRedeemed) }
    return events
  }
}
