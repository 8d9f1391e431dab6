// Named scenarios: what one customer's history publishes, and the state after it.

import AppStore
import Testing

@testable import Subscriptions

@Suite struct SubscriptionScenarioTests {
  struct Scenario: Sendable, CustomTestStringConvertible {
    var name: String
    var events: [[SubscriptionEvent]]
    var status: Subscription.Status
    var steps: @Sendable (inout Story) -> Void
    var testDescription: String { name }
  }

  static let scenarios: [Scenario] = [
    Scenario(name: "renewed", events: [[.started], [.renewed]], status: .active) { $0.renew() },
    Scenario(name: "cancelled and expired", events: [[.started], [.renewalDisabled], [.expired]], status: .expired) {
      $0.setRenewal(false)
      $0.expire()
    },
    Scenario(
      name: "cancelled and enabled again", events: [[.started], [.renewalDisabled], [.renewalEnabled]], status: .active
    ) {
      $0.setRenewal(false)
      $0.setRenewal(true)
    },
    Scenario(name: "upgraded", events: [[.started], [.upgraded], [.renewed]], status: .active) {
      $0.wait(days: 3)
      $0.upgrade(to: "premium")
      $0.renew()
    },
    Scenario(
      name: "downgrade at the end of the period", events: [[.started], [.productChangeScheduled], [.renewed]],
      status: .active
    ) {
      $0.scheduleDowngrade(to: "basic")
      $0.renew()
    },
    Scenario(
      name: "downgrade cancelled", events: [[.started], [.productChangeScheduled], [.productChangeCancelled]],
      status: .active
    ) {
      $0.scheduleDowngrade(to: "basic")
      $0.cancelDowngrade()
    },
    Scenario(name: "recovered in grace", events: [[.started], [.gracePeriodEntered], [.recovered]], status: .active) {
      $0.failToRenew(hasGrace: true)
      $0.wait(days: 3)
      $0.recover()
    },
    Scenario(
      name: "billing retry to the end, and back",
      events: [[.started], [.gracePeriodEntered], [.billingRetryEntered], [.expired], [.resubscribed]], status: .active
    ) {
      $0.failToRenew(hasGrace: true)
      $0.endGrace()
      $0.wait(days: 44)
      $0.expire()
      $0.resubscribe(to: "monthly")
    },
    Scenario(name: "refunded, reversed", events: [[.started], [.revoked], [.reinstated]], status: .active) {
      $0.refund()
      $0.reverseRefund()
    },
    Scenario(name: "a refund of a previous period", events: [[.started], [.renewed], []], status: .active) {
      $0.renew()
      $0.refundPast()
    },
    Scenario(
      name: "a price increase", events: [[.started], [.priceIncreasePending], [.priceIncreaseAccepted], [.renewed]],
      status: .active
    ) {
      $0.increasePrice(isAccepted: false)
      $0.increasePrice(isAccepted: true)
      $0.renew()
    },
    Scenario(name: "an offer", events: [[.started], [.offerRedeemed]], status: .active) { $0.redeemOffer() },
    Scenario(name: "an extension", events: [[.started], [.extended]], status: .active) { $0.extend(days: 14) },
    Scenario(name: "a question about consumption", events: [[.started], []], status: .active) {
      $0.requestConsumption()
    },
  ]

  @Test(arguments: scenarios)
  func `each step publishes what changed`(scenario: Scenario) {
    var story = Story()
    scenario.steps(&story)
    var state = SubscriptionState()
    var events: [[SubscriptionEvent]] = []
    for report in story.reports { events.append(state.events(report)) }
    #expect(events == scenario.events)
    #expect(state.subscription?.status == scenario.status)
  }

  @Test func `an answer that explains a lost end publishes the end, and a later notification nothing`() throws {
    var story = Story()
    story.setRenewal(false)
    var state = SubscriptionState()
    for report in story.reports { _ = state.events(report) }
    let question = try #require(state.subscription?.question(margin: .seconds(3_600)))
    #expect(question == Question(at: story.truth.expires + .seconds(3_600)))
    story.expire()
    let lost = try #require(story.reports.last)
    let answer = try #require(story.answer())
    #expect(state.events(answer) == [.expired])
    #expect(state.events(lost) == [])
    #expect(state.subscription?.question(margin: .zero) == nil)
  }

  @Test func `an import publishes nothing, and the next change its event`() throws {
    var story = Story()
    story.renew()
    var state = SubscriptionState()
    let answer = try #require(story.answer(.imported))
    #expect(state.events(answer) == [])
    #expect(state.subscription?.status == .active)
    story.setRenewal(false)
    let change = try #require(story.reports.last)
    #expect(state.events(change) == [.renewalDisabled])
  }

  @Test func `entitled means active or in grace, up to the end and the margin`() throws {
    var story = Story()
    var state = SubscriptionState()
    for report in story.reports { _ = state.events(report) }
    let bought = try #require(state.subscription)
    let end = story.truth.expires
    #expect(bought.isEntitled(at: end + .seconds(3_599), margin: .seconds(3_600)))
    #expect(!bought.isEntitled(at: end + .seconds(3_600), margin: .seconds(3_600)))
    story.failToRenew(hasGrace: true)
    for report in story.reports { _ = state.events(report) }
    let inGrace = try #require(state.subscription)
    #expect(inGrace.isEntitled(at: end + .seconds(15 * 86_400), margin: .zero))
    story.endGrace()
    for report in story.reports { _ = state.events(report) }
    #expect(state.subscription?.isEntitled(at: end, margin: .zero) == false)
  }
}
