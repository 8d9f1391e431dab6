// Statements about another period than the present one: the first notice is a refund of last year, or the notices about the
// present period were lost.

import AppStore
import Testing

@testable import Subscriptions

@Suite struct UncertainPeriodTests {
  private static let hour = Duration.seconds(3_600)

  /// A history in which the status and the newest known period cannot be true together.
  struct Contradiction: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var status: Subscription.Status
    /// The day until which the customer is entitled, without the margin; nil if the customer is not entitled.
    var until: Int64?
    var reports: [SubscriptionReport?]

    init(
      _ description: String, _ status: Subscription.Status, until: Int64?, _ reports: [SubscriptionReport?]
    ) {
      (testDescription, self.status, self.until, self.reports) = (description, status, until, reports)
    }
  }

  static let contradictions = [
    Contradiction(
      "the first notice is a refund of an earlier period", .active, until: 60,
      [
        notification(
          .refund, status: .active, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal(until: 60))
      ]),
    Contradiction(
      "the same, and the renewal info names no date: as long as the known period", .active, until: 70,
      [notification(.refund, status: .active, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal())]),
    Contradiction(
      "a declined refund of an earlier period that is over", .active, until: 60,
      [notification(.refundDeclined, status: .active, on: 40, transaction(from: 0, to: 30), renewal(until: 60))]),
    Contradiction(
      "a question about the consumption of a period that was upgraded", .active, until: 45,
      [
        notification(
          .consumptionRequest, status: .active, on: 16, transaction(from: 0, to: 30, isUpgraded: true),
          renewal(until: 45))
      ]),
    Contradiction(
      "the renewal was lost, and a refund of the period before arrives", .active, until: 60,
      [
        notification(.subscribed, status: .active, on: 0, transaction(from: 0, to: 30), renewal(until: 30)),
        notification(
          .refund, status: .active, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal(until: 60)),
      ]),
    Contradiction(
      "the current period was refunded, and Apple calls the subscription active", .active, until: 30,
      [
        notification(
          .refund, status: .active, on: 10, transaction(from: 0, to: 30, revoked: 10), renewal(until: 30))
      ]),
    Contradiction(
      "the recovery was lost, and a failure of a later period comes with an old transaction", .gracePeriod, until: 76,
      [
        notification(
          .didFailToRenew, .gracePeriod, status: .billingGracePeriod, on: 60, transaction(from: 0, to: 30),
          renewal(until: 60, grace: 76))
      ]),
    Contradiction(
      "billing retry that began more than 60 days after the newest known period", .billingRetry, until: nil,
      [
        notification(
          .refund, status: .billingRetry, on: 120, transaction(from: 0, to: 30, revoked: 120), renewal())
      ]),
    Contradiction(
      "the end of an earlier period, although a later one is running", .expired, until: nil,
      [
        notification(.didRenew, status: .active, on: 30, transaction("101", from: 30, to: 60), renewal(until: 60)),
        notification(.expired, status: .expired, on: 31, transaction(from: 0, to: 30), renewal()),
      ]),
    Contradiction(
      "the refund of an earlier period as the subscription's status, although a later one is running", .active,
      until: 60,
      [
        notification(.didRenew, status: .active, on: 30, transaction("101", from: 30, to: 60), renewal(until: 60)),
        notification(
          .refund, status: .revoked, on: 31, transaction(from: 0, to: 30, revoked: 31), renewal(until: 60)),
      ]),
    Contradiction(
      "without a status, and the renewal info knows a later period", .active, until: 60,
      [notification(.refund, status: nil, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal(until: 60))]),
  ]

  @Test(arguments: contradictions)
  func `the period is unknown, Apple's status stays, and Apple is asked at once`(contradiction: Contradiction) throws {
    let state = SubscriptionState(after: contradiction.reports)
    let subscription = try #require(state.subscription)
    #expect(subscription.uncertainty == .period)
    #expect(subscription.status == contradiction.status)
    let row = subscription.row("100", of: state, margin: Self.hour)
    #expect(row["uncertain"] == "period")
    #expect(row["entitledUntil"] == contradiction.until.map { .string((Timestamp.day($0) + Self.hour).rfc3339) })
    let question = try #require(subscription.question(margin: Self.hour))
    let now = subscription.statement.signedDate + .seconds(5)
    #expect(question.time(now: now, isAgain: false, margin: Self.hour) == now)
    // An answer that does not explain it either is no reason to ask without a pause.
    #expect(question.time(now: now, isAgain: true, margin: Self.hour) >= now + Self.hour)
    #expect(try SubscriptionState(packed: state.packed) == state)
    #expect(SubscriptionState(after: contradiction.reports.reversed()) == state)
    // Apple's answer ends it.
    var explained = state
    let day = Int64(130)
    let present = try #require(
      answer(status: .active, on: day, transaction("109", from: 125, to: 155), renewal(until: 155)))
    explained.apply(present)
    #expect(explained.subscription?.uncertainty == nil && explained.subscription?.status == .active)
    #expect(explained.subscription?.row("100", of: explained, margin: Self.hour)["uncertain"] == nil)
  }

  /// Histories without a contradiction.
  static let explained: [(String, Subscription.Status, [SubscriptionReport?])] = [
    (
      "a refund of an earlier period while a later one is running", .active,
      [
        notification(.didRenew, status: .active, on: 30, transaction("101", from: 30, to: 60), renewal(until: 60)),
        notification(
          .refund, status: .active, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal(until: 60)),
      ]
    ),
    (
      "a renewal that Apple signed before its period", .active,
      [notification(.didRenew, status: .active, on: 29, transaction("101", from: 30, to: 60), renewal(until: 60))]
    ),
    (
      "an end", .expired,
      [notification(.expired, status: .expired, on: 31, transaction(from: 0, to: 30), renewal(until: 30))]
    ),
    (
      "a grace period after the end", .gracePeriod,
      [
        notification(
          .didFailToRenew, .gracePeriod, status: .billingGracePeriod, on: 31, transaction(from: 0, to: 30),
          renewal(until: 30, grace: 46))
      ]
    ),
    (
      "the last period was refunded while Apple tried to renew it", .billingRetry,
      [
        notification(
          .refund, status: .billingRetry, on: 40, transaction(from: 0, to: 30, revoked: 40), renewal(until: 30))
      ]
    ),
    (
      "a failure that arrives after the recovery", .active,
      [
        notification(
          .didRenew, .billingRecovery, status: .active, on: 33, transaction("101", from: 33, to: 63),
          renewal(until: 63)),
        notification(
          .didFailToRenew, status: .billingRetry, on: 30, transaction(from: 0, to: 30), renewal(until: 30)),
      ]
    ),
    (
      "the latest period was refunded, and Apple calls an earlier one active that is running", .active,
      [
        notification(
          .refund, status: .revoked, on: 11, transaction("101", from: 10, to: 375, revoked: 11), renewal(until: 30)),
        answer(status: .active, on: 12, transaction(from: 0, to: 30), renewal(until: 30)),
      ]
    ),
    (
      "a status that was signed before the revocation of the same period", .revoked,
      [
        notification(.refund, status: .revoked, on: 11, transaction(from: 0, to: 30, revoked: 11)),
        answer(status: .active, on: 10, transaction(from: 0, to: 30), renewal(until: 30, signed: 12)),
      ]
    ),
  ]

  @Test func `a history without a contradiction leaves nothing unknown`() throws {
    for (name, status, reports) in Self.explained {
      let state = SubscriptionState(after: reports)
      let subscription = try #require(state.subscription)
      #expect(subscription.uncertainty == nil && subscription.status == status, "\(name)")
      #expect(subscription.row("100", of: state, margin: Self.hour)["uncertain"] == nil, "\(name)")
      #expect(SubscriptionState(after: reports.reversed()) == state, "\(name)")
      #expect(try SubscriptionState(packed: state.packed) == state, "\(name)")
    }
  }

  @Test func `an answer that stays contradictory is asked about less and less often, at least once a day`() {
    let question = Question(at: .day(0), isUrgent: true)
    let hour = Self.hour
    func pause(_ day: Int64) -> Duration {
      question.time(now: .day(day), isAgain: true, margin: hour) - .day(day)
    }
    #expect(pause(0) == hour)
    #expect(pause(1) == hour * 6)
    #expect(pause(400) == hour * 24)
  }
}
