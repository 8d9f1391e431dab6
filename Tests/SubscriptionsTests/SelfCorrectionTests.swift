// The worker never stops asking about a state that is not explained.

import AppStore
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(5))) struct SelfCorrectionTests {
  private static let hour = Duration.seconds(3_600)
  private static let day = Duration.seconds(86_400)

  @Test func `an older refund that a newer answer lacks is active, uncertain, and asked about a second time`() throws {
    let refund = notification(
      .refund, status: .revoked, on: 10, transaction(from: 0, to: 30, revoked: 10), renewal(until: 30))
    let stale = try #require(answer(status: .active, on: 10, transaction(from: 0, to: 30), renewal(until: 30)))
    var later = stale
    later.period?.signedDate = .day(10) + .seconds(60)
    later.statement.signedDate = .day(10) + .seconds(60)
    later.statement.transactionSignedDate = .day(10) + .seconds(60)
    for reports in [[refund, later], [later, refund], [later, refund, later, refund]] {
      let state = SubscriptionState(after: reports)
      let subscription = try #require(state.subscription)
      #expect(subscription.status == .active && subscription.uncertainty == .revocation)
      let question = try #require(subscription.question(margin: Self.hour))
      let now = Timestamp.day(10) + .seconds(90)
      #expect(question.time(now: now, isAgain: false, margin: Self.hour) == now + Self.hour)
      #expect(try SubscriptionState(packed: state.packed) == state)
      #expect(state == SubscriptionState(after: [refund, later]))
    }
    // An answer of the next day counts.
    var state = SubscriptionState(after: [refund, later])
    let settled = try #require(answer(status: .active, on: 11, transaction(from: 0, to: 30), renewal(until: 30)))
    state.apply(settled)
    #expect(state.subscription?.uncertainty == nil && state.subscription?.status == .active)
  }

  @Test func `a reversal explains why the refund is missing`() throws {
    let reports = [
      notification(.refund, status: .revoked, on: 10, transaction(from: 0, to: 30, revoked: 10), renewal(until: 30)),
      notification(.refundReversed, status: .active, on: 11, transaction(from: 0, to: 30), renewal(until: 30)),
      answer(status: .active, on: 11, transaction(from: 0, to: 30), renewal(until: 30)),
    ]
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
      let state = SubscriptionState(after: order.map { reports[$0] })
      #expect(state.subscription?.status == .active && state.subscription?.uncertainty == nil)
      #expect(state == SubscriptionState(after: reports))
      #expect(try SubscriptionState(packed: state.packed) == state)
    }
  }

  @Test func `Apple does not know the subscription, and the worker asks again until Apple does`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await stage.deliver(stage.notifications().map(\.record))
      // The App Store does not find the subscription for a while, and its end is lost.
      try stage.happens { state, now in try state.setRenewal(id, isOn: false, at: now) }
      try await stage.advance(by: Self.day * 30)
      let known = try stage.happens { state, _ in try #require(state.subscriptions[id]) }
      let transactions = try stage.happens { state, _ in state.transactions }
      try stage.happens { state, _ in
        state.forget(id)
        state.transactions = [:]
      }
      try await stage.advance(by: Self.day * 2)
      let asked = stage.appStore.asked.count
      #expect(asked >= 1)
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      try stage.happens { state, _ in
        state.transactions = transactions
        state.subscriptions[id] = known
        state.lapse(id, to: .expired)
      }
      try await stage.advance(by: Self.day * 2)
      #expect(stage.appStore.asked.count > asked)
      #expect(try stage.table()["\(id)"]?["status"] == "expired")
    }
  }

  @Test func `a version 1 refund of a known subscription that Apple does not know for now is asked about again`()
    async throws
  {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await stage.deliver(stage.notifications().map(\.record))
      let sent = stage.nextSequence
      try stage.happens { state, now in try state.refund(id, at: now) }
      let entry = try #require(stage.entries(from: sent).last)
      let refund = try #require(try stage.v1(entry))
      let known = try stage.happens { state, _ in (state.subscriptions[id], state.transactions) }
      try stage.happens { state, _ in
        state.forget(id)
        state.transactions = [:]
      }
      try await stage.deliver([refund])
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      try stage.happens { state, _ in (state.subscriptions[id], state.transactions) = known }
      try await stage.advance(by: Self.hour)
      #expect(try stage.table()["\(id)"]?["status"] == "revoked")
    }
  }

  @Test func `a notification whose transaction has no date leads to a question at once`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      let entry = try #require(stage.entries().first)
      try await stage.deliver([stage.v2(entry) { $0.transaction?.json["purchaseDate"] = nil }])
      #expect(stage.appStore.asked.count == 1)
      #expect(try stage.table()["\(id)"]?["status"] == "active")
    }
  }
}
