// What each type and subtype publishes after a purchase, and what it leaves. A type that Apple adds has to be listed.

import AppStore
import Testing

@testable import Subscriptions

@Suite struct NotificationTypeTests {
  struct Row: Sendable {
    /// What happened before the notification.
    var before: @Sendable (inout Story) -> Void = { _ in }
    /// The notification.
    var step: @Sendable (inout Story) -> Void
    var events: [SubscriptionEvent]
    var status = Subscription.Status.active
  }

  static let rows: [String: Row] = [
    "SUBSCRIBED": Row(step: { $0.send(.subscribed) }, events: []),
    "SUBSCRIBED/INITIAL_BUY": Row(step: { $0.send(.subscribed, .initialBuy) }, events: []),
    "SUBSCRIBED/RESUBSCRIBE": Row(
      before: {
        $0.setRenewal(false)
        $0.expire()
      }, step: { $0.resubscribe(to: "basic") }, events: [.resubscribed]),
    "DID_CHANGE_RENEWAL_PREF": Row(
      before: { $0.scheduleDowngrade(to: "basic") }, step: { $0.cancelDowngrade() }, events: [.productChangeCancelled]),
    "DID_CHANGE_RENEWAL_PREF/UPGRADE": Row(step: { $0.upgrade(to: "premium") }, events: [.upgraded]),
    "DID_CHANGE_RENEWAL_PREF/DOWNGRADE": Row(
      step: { $0.scheduleDowngrade(to: "basic") }, events: [.productChangeScheduled]),
    "DID_CHANGE_RENEWAL_STATUS": Row(step: { $0.send(.didChangeRenewalStatus) }, events: []),
    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED": Row(
      before: { $0.setRenewal(false) }, step: { $0.setRenewal(true) }, events: [.renewalEnabled]),
    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED": Row(
      step: { $0.setRenewal(false) }, events: [.renewalDisabled]),
    "OFFER_REDEEMED": Row(step: { $0.redeemOffer() }, events: [.offerRedeemed]),
    "OFFER_REDEEMED/INITIAL_BUY": Row(step: { $0.redeemOffer(.initialBuy) }, events: [.offerRedeemed]),
    "OFFER_REDEEMED/RESUBSCRIBE": Row(
      before: {
        $0.setRenewal(false)
        $0.expire()
      }, step: { $0.resubscribe(to: "monthly", offer: true) }, events: [.resubscribed, .offerRedeemed]),
    "OFFER_REDEEMED/UPGRADE": Row(
      step: { $0.upgrade(to: "premium", offer: true) }, events: [.upgraded, .offerRedeemed]),
    "OFFER_REDEEMED/DOWNGRADE": Row(
      step: { $0.scheduleDowngrade(to: "basic", offer: true) }, events: [.productChangeScheduled, .offerRedeemed]),
    "DID_RENEW": Row(step: { $0.renew() }, events: [.renewed]),
    "DID_RENEW/BILLING_RECOVERY": Row(
      before: { $0.failToRenew(hasGrace: false) }, step: { $0.recover() }, events: [.recovered]),
    "EXPIRED": Row(step: { $0.expire(nil) }, events: [.expired], status: .expired),
    "EXPIRED/VOLUNTARY": Row(
      before: { $0.setRenewal(false) }, step: { $0.expire(.voluntary) }, events: [.expired], status: .expired),
    "EXPIRED/BILLING_RETRY": Row(
      before: { $0.failToRenew(hasGrace: false) }, step: { $0.expire(.billingRetry) }, events: [.expired],
      status: .expired),
    "EXPIRED/PRICE_INCREASE": Row(
      before: { $0.increasePrice(isAccepted: false) }, step: { $0.expire(.priceIncrease) }, events: [.expired],
      status: .expired),
    "EXPIRED/PRODUCT_NOT_FOR_SALE": Row(
      step: { $0.expire(.productNotForSale) }, events: [.expired], status: .expired),
    "DID_FAIL_TO_RENEW": Row(
      step: { $0.failToRenew(hasGrace: false) }, events: [.billingRetryEntered], status: .billingRetry),
    "DID_FAIL_TO_RENEW/GRACE_PERIOD": Row(
      step: { $0.failToRenew(hasGrace: true) }, events: [.gracePeriodEntered], status: .gracePeriod),
    "GRACE_PERIOD_EXPIRED": Row(
      before: { $0.failToRenew(hasGrace: true) }, step: { $0.endGrace() }, events: [.billingRetryEntered],
      status: .billingRetry),
    "PRICE_INCREASE": Row(step: { $0.send(.priceIncrease) }, events: []),
    "PRICE_INCREASE/PENDING": Row(step: { $0.increasePrice(isAccepted: false) }, events: [.priceIncreasePending]),
    "PRICE_INCREASE/ACCEPTED": Row(step: { $0.increasePrice(isAccepted: true) }, events: [.priceIncreaseAccepted]),
    "REFUND": Row(step: { $0.refund() }, events: [.revoked], status: .revoked),
    "REFUND_DECLINED": Row(step: { $0.send(.refundDeclined) }, events: []),
    "REFUND_REVERSED": Row(before: { $0.refund() }, step: { $0.reverseRefund() }, events: [.reinstated]),
    "REVOKE": Row(step: { $0.refund(.revoke) }, events: [.revoked], status: .revoked),
    "CONSUMPTION_REQUEST": Row(step: { $0.requestConsumption() }, events: []),
    "RENEWAL_EXTENDED": Row(step: { $0.extend(days: 14) }, events: [.extended]),
    "RENEWAL_EXTENSION": Row(step: { $0.send(.renewalExtension) }, events: []),
    "RENEWAL_EXTENSION/SUMMARY": Row(step: { $0.sendWithoutTokens(.renewalExtension, .summary) }, events: []),
    "RENEWAL_EXTENSION/FAILURE": Row(step: { $0.send(.renewalExtension, .failure) }, events: []),
    "TEST": Row(step: { $0.sendWithoutTokens(.test) }, events: []),
    "EXTERNAL_PURCHASE_TOKEN": Row(step: { $0.sendWithoutTokens(.externalPurchaseToken) }, events: []),
    "EXTERNAL_PURCHASE_TOKEN/UNREPORTED": Row(
      step: { $0.sendWithoutTokens(.externalPurchaseToken, .unreported) }, events: []),
    "EXTERNAL_PURCHASE_TOKEN/CREATED": Row(
      step: { $0.sendWithoutTokens(.externalPurchaseToken, .created) }, events: []),
    "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER": Row(
      step: { $0.sendWithoutTokens(.externalPurchaseToken, .activeTokenReminder) }, events: []),
    "ONE_TIME_CHARGE": Row(step: { $0.sendPurchase() }, events: []),
    "RESCIND_CONSENT": Row(step: { $0.sendWithoutTokens(.rescindConsent) }, events: []),
    "METADATA_UPDATE": Row(step: { $0.send(.metadataUpdate) }, events: []),
    "MIGRATION": Row(step: { $0.send(.migration) }, events: []),
    "PRICE_CHANGE": Row(step: { $0.send(.priceChange) }, events: []),
    // A type that Apple adds changes the state all the same.
    "UNHEARD_OF": Row(
      before: { $0.setRenewal(false) }, step: { $0.expire(nil, as: NotificationTypeV2(rawValue: "UNHEARD_OF")) },
      events: [.expired], status: .expired),
  ]

  @Test func `the table has every type and subtype`() {
    var names: Set<String> = ["UNHEARD_OF"]
    for type in NotificationTypeV2.allKnown {
      names.insert(type.rawValue)
      for subtype in type.subtypes { names.insert("\(type)/\(subtype)") }
    }
    #expect(names == Set(Self.rows.keys))
  }

  @Test(arguments: rows.keys.sorted())
  func `a notification publishes the change that it reports`(name: String) throws {
    let row = try #require(Self.rows[name])
    var story = Story()
    row.before(&story)
    var state = SubscriptionState()
    for report in story.reports { state.apply(report) }
    let sent = story.reports.count
    row.step(&story)
    var events: [SubscriptionEvent] = []
    for report in story.reports.dropFirst(sent) { events += state.events(report) }
    #expect(events == row.events)
    #expect(state.subscription?.status == row.status)
  }

  @Test(arguments: rows.keys.sorted())
  func `the first notification of a customer publishes the change that it reports`(name: String) throws {
    let row = try #require(Self.rows[name])
    var story = Story()
    let bought = story.reports.count
    row.before(&story)
    // What a notification takes back is unknown without the one before.
    guard story.reports.count == bought else { return }
    row.step(&story)
    var state = SubscriptionState()
    var events: [SubscriptionEvent] = []
    for report in story.reports.dropFirst(bought) { events += state.events(report) }
    let starts = ["SUBSCRIBED", "SUBSCRIBED/INITIAL_BUY", "OFFER_REDEEMED/INITIAL_BUY"].contains(name)
    #expect(events == (starts ? [.started] : []) + row.events)
  }
}
