// A customer's subscription as Apple would report it: each step changes the truth and sends one notification.

import AppStore

@testable import Subscriptions

/// The history of one subscription.
struct Story {
  /// The truth after a step.
  struct Truth: Hashable {
    var status = Subscription.Status.active
    var product = "monthly"
    var expires = Timestamp.day(0)
    var grace: Timestamp?
    var renews = true
    var nextProduct = "monthly"
    /// The present commitment; nil if there is none, or if the subscription has ended.
    var term: Term?
    /// The commitment in the transaction of the present period.
    var commitment: Commitment?
  }

  /// A commitment of three billing periods, so that a history has several of them.
  struct Term: Hashable {
    static let periods: Int64 = 3
    var number: Int64 = 1
    var ends: Timestamp
    /// Whether another commitment follows.
    var renews = true
    /// The product and the price of the next commitment.
    var product: String
    var price: Int64 = 29_970
    var isLast: Bool { number >= Self.periods }

    /// The next commitment as in the renewal info.
    var info: RenewalCommitmentInfo {
      var info = RenewalCommitmentInfo(json: [:])
      info.commitmentAutoRenewStatus = renews ? .on : .off
      info.commitmentAutoRenewProductId = product
      (info.commitmentRenewalDate, info.commitmentRenewalPrice) = (ends, price)
      return info
    }
  }

  /// A notification before it is read.
  struct Notice {
    var payload: ResponseBodyV2DecodedPayload
    var transaction: JWSTransactionDecodedPayload?
    var renewal: JWSRenewalInfoDecodedPayload?

    var report: SubscriptionReport? { SubscriptionReport(payload, transaction: transaction, renewal: renewal) }
  }

  private(set) var reports: [SubscriptionReport] = []
  /// The notifications of ``reports``.
  private(set) var notices: [Notice] = []
  /// What Apple would have answered after each notification.
  private(set) var answers: [SubscriptionReport] = []
  private(set) var truth = Truth()
  private(set) var truths: [Truth] = []
  private(set) var now: Timestamp
  private var transaction = JWSTransactionDecodedPayload(json: [:])
  private var past: [JWSTransactionDecodedPayload] = []
  private var priceIncrease: PriceIncreaseStatus?
  private var intent: ExpirationIntent?
  private var nextOffer: OfferType?
  private var nextTransaction = 1
  private let id: String
  /// Whether transactions have all the fields that Apple's have.
  private let isDetailed: Bool
  private let isCommitted: Bool

  init(
    id: String = "100", at start: Timestamp = .day(0), isDetailed: Bool = false, isCommitted: Bool = false
  ) {
    self.id = id
    self.isDetailed = isDetailed
    self.isCommitted = isCommitted
    now = start
    buy("monthly")
    send(.subscribed, .initialBuy)
  }

  mutating func wait(days: Int64) { now = now + .seconds(days * 86_400) }

  private mutating func buy(_ product: String, from start: Timestamp? = nil, isRenewal: Bool = false) {
    let first = transaction.originalPurchaseDate ?? now
    if transaction.transactionId != nil { past.append(transaction) }
    transaction = JWSTransactionDecodedPayload(json: [:])
    transaction.transactionId = nextTransaction == 1 ? id : "\(id)-\(nextTransaction)"
    nextTransaction += 1
    transaction.originalTransactionId = id
    transaction.type = .autoRenewableSubscription
    transaction.productId = product
    transaction.purchaseDate = start ?? now
    transaction.originalPurchaseDate = first
    transaction.expiresDate = (start ?? now) + .seconds(30 * 86_400)
    transaction.transactionReason = isRenewal ? .renewal : .purchase
    transaction.price = 9_990
    transaction.currency = "USD"
    if isDetailed {
      transaction.transactionId = "\(2_000_000_123_456_788 + nextTransaction)"
      transaction.productId = "com.example.app.\(product).2026"
      transaction.subscriptionGroupIdentifier = "21442042"
      transaction.inAppOwnershipType = .purchased
      transaction.appAccountToken = "c0ffee00-1234-4abc-8def-0123456789ab"
      transaction.appTransactionId = "704346128163982754"
    }
    if isCommitted { commit(to: product, from: start ?? now, isRenewal: isRenewal) }
    truth.status = .active
    truth.product = product
    truth.expires = transaction.expiresDate ?? now
    truth.grace = nil
    truth.nextProduct = product
    intent = nil
    guard let term = truth.term, term.isLast else { return }
    (truth.renews, truth.nextProduct) = (term.renews, term.product)
  }

  private mutating func commit(to product: String, from start: Timestamp, isRenewal: Bool) {
    if isRenewal, let term = truth.term, !term.isLast {
      truth.term?.number += 1
      truth.term?.ends = term.ends + max(.zero, start - truth.expires)
    } else {
      truth.term = Term(ends: start + .seconds(Term.periods * 30 * 86_400), product: product)
    }
    writeCommitment()
  }

  /// Writes the present commitment into the transaction.
  private mutating func writeCommitment() {
    guard let term = truth.term else { return }
    transaction.billingPlanType = .monthly
    var info = TransactionCommitmentInfo(json: [:])
    (info.billingPeriodNumber, info.totalBillingPeriods) = (term.number, Term.periods)
    (info.commitmentExpiresDate, info.commitmentPrice) = (term.ends, 29_970)
    transaction.commitmentInfo = info
    truth.commitment = Commitment(transaction)
  }

  // MARK: - Steps

  mutating func renew() {
    now = max(now, truth.expires)
    buy(truth.nextProduct, from: truth.expires, isRenewal: true)
    priceIncrease = nil
    send(.didRenew)
  }

  mutating func recover() {
    buy(truth.nextProduct, isRenewal: true)
    send(.didRenew, .billingRecovery)
  }

  mutating func upgrade(to product: String, offer: Bool = false) {
    transaction.isUpgraded = true
    buy(product)
    if offer { addOffer() }
    send(offer ? .offerRedeemed : .didChangeRenewalPref, .upgrade)
  }

  mutating func scheduleDowngrade(to product: String, offer: Bool = false) {
    truth.term?.product = product
    if truth.term?.isLast ?? true { truth.nextProduct = product }
    nextOffer = offer ? .promotionalOffer : nil
    send(offer ? .offerRedeemed : .didChangeRenewalPref, .downgrade)
  }

  mutating func cancelDowngrade() {
    truth.term?.product = truth.product
    truth.nextProduct = truth.product
    send(.didChangeRenewalPref)
  }

  mutating func setRenewal(_ isOn: Bool) {
    truth.term?.renews = isOn
    // Billing continues until the commitment ends.
    if truth.term?.isLast ?? true { truth.renews = isOn }
    send(.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled)
  }

  mutating func changeRenewal() { setRenewal(!(truth.term?.renews ?? truth.renews)) }

  mutating func expire() { expire(truth.renews ? .billingRetry : .voluntary) }

  mutating func expire(_ subtype: Subtype?, as type: NotificationTypeV2 = .expired) {
    now = max(now, truth.expires)
    truth.status = .expired
    truth.grace = nil
    intent = subtype == .billingRetry ? .billingError : .customerCancelled
    truth.renews = false
    truth.term = nil
    send(type, subtype)
  }

  mutating func failToRenew(hasGrace: Bool) {
    now = max(now, truth.expires)
    truth.status = hasGrace ? .gracePeriod : .billingRetry
    truth.grace = hasGrace ? truth.expires + .seconds(16 * 86_400) : nil
    send(.didFailToRenew, hasGrace ? .gracePeriod : nil)
  }

  mutating func endGrace() {
    now = max(now, truth.grace ?? now)
    truth.status = .billingRetry
    truth.grace = nil
    send(.gracePeriodExpired)
  }

  mutating func resubscribe(to product: String, offer: Bool = false) {
    buy(product)
    if offer { addOffer() }
    truth.renews = true
    send(offer ? .offerRedeemed : .subscribed, .resubscribe)
  }

  mutating func refund(_ type: NotificationTypeV2 = .refund) {
    transaction.revocationDate = now
    truth.status = .revoked
    truth.term = nil
    send(type)
  }

  mutating func reverseRefund() {
    transaction.revocationDate = nil
    truth.status = .active
    send(.refundReversed)
  }

  /// A refund of an earlier period, which changes nothing about the present one.
  mutating func refundPast() {
    guard var old = past.popLast() else { return }
    old.revocationDate = now
    send(.refund, about: old)
  }

  mutating func extend(days: Int64) {
    truth.expires = truth.expires + .seconds(days * 86_400)
    transaction.expiresDate = truth.expires
    if let term = truth.term {
      truth.term?.ends = term.ends + .seconds(days * 86_400)
      writeCommitment()
    }
    send(.renewalExtended)
  }

  mutating func increasePrice(isAccepted: Bool) {
    priceIncrease = isAccepted ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
    truth.term?.price = 35_970
    send(.priceIncrease, isAccepted ? .accepted : .pending)
  }

  mutating func redeemOffer(_ subtype: Subtype? = nil) {
    addOffer()
    send(.offerRedeemed, subtype)
  }

  private mutating func addOffer() {
    transaction.offerType = .promotionalOffer
    transaction.offerIdentifier = "SPRING"
  }

  mutating func requestConsumption() { send(.consumptionRequest) }

  /// What Apple answers to *Get All Subscription Statuses* now.
  func answer(_ kind: Cause.Kind = .answer) -> SubscriptionReport? {
    let (transaction, renewal) = tokens(about: transaction, at: now)
    return SubscriptionReport(
      status: truth.status.apple, transaction: transaction, renewal: renewal, cause: Cause(kind: kind, id: "question"))
  }

  // MARK: - Notifications

  private func tokens(
    about transaction: JWSTransactionDecodedPayload, at signedDate: Timestamp
  ) -> (JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload) {
    var transaction = transaction
    transaction.signedDate = signedDate
    var renewal = JWSRenewalInfoDecodedPayload(json: [:])
    renewal.originalTransactionId = id
    renewal.autoRenewStatus = truth.renews ? .on : .off
    renewal.autoRenewProductId = truth.nextProduct
    renewal.productId = truth.product
    renewal.gracePeriodExpiresDate = truth.grace
    renewal.renewalDate = truth.expires
    renewal.isInBillingRetryPeriod = truth.status == .billingRetry ? true : nil
    renewal.priceIncreaseStatus = priceIncrease
    renewal.expirationIntent = intent
    renewal.offerType = nextOffer
    renewal.commitmentInfo = truth.term?.info
    renewal.signedDate = signedDate
    return (transaction, renewal)
  }

  mutating func send(
    _ type: NotificationTypeV2, _ subtype: Subtype? = nil, about other: JWSTransactionDecodedPayload? = nil
  ) {
    now = now + .seconds(1)
    let (transaction, renewal) = tokens(about: other ?? transaction, at: now)
    let notice = Notice(payload: notification(type, subtype), transaction: transaction, renewal: renewal)
    notices.append(notice)
    add(notice.report)
    if let answer = answer() { answers.append(answer) }
  }

  /// Sends a notification that is not about a transaction.
  mutating func sendWithoutTokens(_ type: NotificationTypeV2, _ subtype: Subtype? = nil) {
    now = now + .seconds(1)
    add(SubscriptionReport(notification(type, subtype), transaction: nil, renewal: nil))
  }

  /// Sends a notification about a purchase that does not renew.
  mutating func sendPurchase() {
    now = now + .seconds(1)
    var (transaction, _) = tokens(about: transaction, at: now)
    transaction.type = .consumable
    add(SubscriptionReport(notification(.oneTimeCharge, nil), transaction: transaction, renewal: nil))
  }

  private func notification(_ type: NotificationTypeV2, _ subtype: Subtype?) -> ResponseBodyV2DecodedPayload {
    var notification = ResponseBodyV2DecodedPayload(json: [:])
    notification.notificationType = type
    notification.subtype = subtype
    notification.notificationUUID =
      isDetailed ? "c0ffee00-1234-4abc-8def-0123456789\(10 + reports.count)" : "\(id)/\(reports.count)"
    notification.signedDate = now
    var data = NotificationData(json: [:])
    data.status = truth.status.apple
    notification.data = data
    return notification
  }

  private mutating func add(_ report: SubscriptionReport?) {
    guard let report else { return }
    reports.append(report)
    truths.append(truth)
  }
}

extension Subscription.Status {
  /// Apple's code.
  var apple: AppStore.Status {
    switch self {
    case .active: .active
    case .gracePeriod: .billingGracePeriod
    case .billingRetry: .billingRetry
    case .expired: .expired
    case .revoked: .revoked
    }
  }
}

extension Timestamp {
  /// A day after the beginning of 2026.
  static func day(_ number: Int64) -> Timestamp {
    Timestamp(millisecondsSince1970: 1_767_225_600_000 + number * 86_400_000)
  }
}

extension SubscriptionState {
  /// Takes a report and returns the events of the change.
  mutating func events(_ report: SubscriptionReport) -> [SubscriptionEvent] {
    let before = subscription
    apply(report)
    return subscription?.events(since: before, cause: report.statement.cause) ?? []
  }
}

extension Story.Truth {
  /// The next commitment as a state has it.
  var nextCommitment: NextCommitment? {
    guard let term else { return nil }
    var renewal = JWSRenewalInfoDecodedPayload(json: [:])
    renewal.commitmentInfo = term.info
    return NextCommitment(renewal)
  }
}
