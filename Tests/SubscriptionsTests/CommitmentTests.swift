// Commitments of twelve months that are billed each month: the row says what ends when.

import AppStore
import TestSupport
import Testing

@testable import Subscriptions

@Suite struct CommitmentTests {
  private static let hour = Duration.seconds(3_600)

  /// A month of a commitment that began on day 0 and ends on day 360.
  private func month(_ number: Int64, commitmentRenews: Bool, price: Int64 = 99_990, signed: Int64? = nil)
    -> SubscriptionReport?
  {
    let start = (number - 1) * 30
    var paid = transaction("10\(number)", from: start, to: start + 30)
    paid.billingPlanType = .monthly
    var info = TransactionCommitmentInfo(json: [:])
    (info.billingPeriodNumber, info.totalBillingPeriods) = (number, 12)
    (info.commitmentExpiresDate, info.commitmentPrice) = (.day(360), 99_990)
    paid.commitmentInfo = info
    var next = renewal(until: start + 30)
    next.renewalBillingPlanType = .monthly
    var renewalInfo = RenewalCommitmentInfo(json: [:])
    renewalInfo.commitmentAutoRenewStatus = commitmentRenews ? .on : .off
    (renewalInfo.commitmentRenewalDate, renewalInfo.commitmentRenewalPrice) = (.day(360), price)
    renewalInfo.commitmentAutoRenewProductId = "monthly"
    next.commitmentInfo = renewalInfo
    return notification(.didRenew, status: .active, on: signed ?? start, paid, next)
  }

  @Test func `the row has the billing period, the end of the commitment, and whether it renews`() throws {
    let state = SubscriptionState(after: [month(2, commitmentRenews: true)])
    let row = try #require(state.subscription).row("100", of: state, margin: Self.hour)
    #expect(row["autoRenews"] == true)
    #expect(
      row["commitment"] == [
        "billingPlanType": "MONTHLY", "billingPeriod": 2, "billingPeriods": 12,
        "expiresDate": .string(Timestamp.day(360).rfc3339), "price": 99_990, "autoRenews": true,
        "autoRenewProductId": "monthly", "renewalBillingPlanType": "MONTHLY",
        "renewalDate": .string(Timestamp.day(360).rfc3339), "renewalPrice": 99_990,
      ])
    var complete = row
    complete["bundleId"] = "com.example.app"
    #expect(try SchemaCheck("appstore.subscriptions").problems(.object(complete)).isEmpty)
    #expect(try SubscriptionState(packed: state.packed) == state)
  }

  @Test func `the commitment does not renew, and billing goes on until it ends`() throws {
    var state = SubscriptionState(after: [month(1, commitmentRenews: true)])
    let off = try #require(month(1, commitmentRenews: false, signed: 10))
    #expect(state.events(off) == [.commitmentRenewalDisabled])
    #expect(state.subscription?.renews == true)
    let next = try #require(month(2, commitmentRenews: false))
    #expect(state.events(next) == [.renewed])
    let on = try #require(month(2, commitmentRenews: true, signed: 40))
    #expect(state.events(on) == [.commitmentRenewalEnabled])
    #expect(try SubscriptionState(packed: state.packed) == state)
    #expect(SubscriptionState(after: [on, next, off, month(1, commitmentRenews: true)]) == state)
  }

  @Test func `a higher price of the next commitment is in the row before the present one ends`() throws {
    let state = SubscriptionState(after: [
      month(3, commitmentRenews: true), month(3, commitmentRenews: true, price: 119_990, signed: 61),
    ])
    let row = try #require(state.subscription).row("100", of: state, margin: Self.hour)
    guard case .object(let commitment)? = row["commitment"] else {
      Issue.record("no commitment")
      return
    }
    #expect(commitment["price"] == 99_990 && commitment["renewalPrice"] == 119_990)
  }

  @Test func `a subscription without a commitment has none in its row`() throws {
    let state = SubscriptionState(after: [
      notification(.didRenew, status: .active, on: 0, transaction(from: 0, to: 30), renewal(until: 30))
    ])
    #expect(try #require(state.subscription).row("100", of: state, margin: Self.hour)["commitment"] == nil)
  }
}
