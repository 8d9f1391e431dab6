// Reports that are built field by field, for histories that no customer of the simulator has.

import AppStore

@testable import Subscriptions

/// A transaction of subscription 100, with days of 2026 as dates.
func transaction(
  _ id: String = "100", from start: Int64, to end: Int64?, signed: Int64? = nil, revoked: Int64? = nil,
  isUpgraded: Bool = false, product: String = "monthly"
) -> JWSTransactionDecodedPayload {
  var transaction = JWSTransactionDecodedPayload(json: [:])
  transaction.transactionId = id
  transaction.originalTransactionId = "100"
  transaction.type = .autoRenewableSubscription
  transaction.productId = product
  transaction.purchaseDate = .day(start)
  transaction.originalPurchaseDate = .day(-400)
  transaction.expiresDate = end.map { .day($0) }
  transaction.revocationDate = revoked.map { .day($0) }
  if isUpgraded { transaction.isUpgraded = true }
  transaction.signedDate = signed.map { .day($0) }
  return transaction
}

/// A renewal info of subscription 100.
func renewal(until end: Int64? = nil, grace: Int64? = nil, signed: Int64? = nil) -> JWSRenewalInfoDecodedPayload {
  var renewal = JWSRenewalInfoDecodedPayload(json: [:])
  renewal.originalTransactionId = "100"
  renewal.autoRenewStatus = .on
  renewal.autoRenewProductId = "monthly"
  renewal.productId = "monthly"
  renewal.renewalDate = end.map { .day($0) }
  renewal.gracePeriodExpiresDate = grace.map { .day($0) }
  renewal.signedDate = signed.map { .day($0) }
  return renewal
}

/// A notification, whose tokens are signed at the same time unless they say otherwise.
func notification(
  _ type: NotificationTypeV2, _ subtype: Subtype? = nil, status: AppStore.Status?, on day: Int64,
  _ transaction: JWSTransactionDecodedPayload?, _ renewal: JWSRenewalInfoDecodedPayload? = nil
) -> SubscriptionReport? {
  var payload = ResponseBodyV2DecodedPayload(json: [:])
  payload.notificationType = type
  payload.subtype = subtype
  payload.notificationUUID = "\(type.rawValue)/\(day)"
  payload.signedDate = .day(day)
  var data = NotificationData(json: [:])
  data.status = status
  payload.data = data
  return SubscriptionReport(payload, transaction: transaction?.signed(on: day), renewal: renewal?.signed(on: day))
}

/// An answer of *Get All Subscription Statuses*.
func answer(
  status: AppStore.Status?, on day: Int64, _ transaction: JWSTransactionDecodedPayload?,
  _ renewal: JWSRenewalInfoDecodedPayload? = nil
) -> SubscriptionReport? {
  SubscriptionReport(
    status: status, transaction: transaction?.signed(on: day), renewal: renewal?.signed(on: day),
    cause: Cause(kind: .answer, id: "question"))
}

extension JWSTransactionDecodedPayload {
  fileprivate func signed(on day: Int64) -> Self {
    var signed = self
    if signedDate == nil { signed.signedDate = .day(day) }
    return signed
  }
}

extension JWSRenewalInfoDecodedPayload {
  fileprivate func signed(on day: Int64) -> Self {
    var signed = self
    if signedDate == nil { signed.signedDate = .day(day) }
    return signed
  }
}

extension SubscriptionState {
  /// The state after reports, in this order.
  init(after reports: [SubscriptionReport?]) {
    self.init()
    for case let report? in reports { apply(report) }
  }
}
