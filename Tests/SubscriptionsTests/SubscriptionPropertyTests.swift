// Random histories: the state follows from the set of reports, whatever the order, and events never contradict it.

import AppStore
import AppStoreSigning
import Testing

@testable import Subscriptions

@Suite struct SubscriptionPropertyTests {
  static let seeds = 0..<300 as Range<UInt64>

  /// A random history of a customer.
  static func story(_ random: inout SeededGenerator) -> Story {
    var story = Story(isCommitted: Int.random(in: 0..<3, using: &random) == 0)
    let products = ["monthly", "basic", "premium"]
    for _ in 0..<Int.random(in: 3...25, using: &random) {
      story.wait(days: Int64.random(in: 0...3, using: &random))
      let product = products.randomElement(using: &random) ?? "monthly"
      let choice = Int.random(in: 0..<11, using: &random)
      switch story.truth.status {
      case .active:
        switch choice {
        case 0, 1, 2: if story.truth.renews { story.renew() } else { story.expire() }
        case 3: story.changeRenewal()
        case 4: if product != story.truth.product { story.upgrade(to: product) }
        case 5: if product != story.truth.product { story.scheduleDowngrade(to: product) }
        case 6: story.refund()
        case 7: if story.truth.renews { story.failToRenew(hasGrace: Bool.random(using: &random)) }
        case 8: story.extend(days: 7)
        case 9: story.increasePrice(isAccepted: Bool.random(using: &random))
        default: story.refundPast()
        }
      case .gracePeriod: if choice < 5 { story.recover() } else { story.endGrace() }
      case .billingRetry: if choice < 5 { story.recover() } else { story.expire() }
      case .expired: if choice < 8 { story.resubscribe(to: product) } else { story.refundPast() }
      case .revoked: if choice < 5 { story.reverseRefund() } else { story.resubscribe(to: product) }
      }
    }
    return story
  }

  /// Whether a state agrees with the truth.
  static func isTrue(_ state: SubscriptionState, _ truth: Story.Truth) -> Bool {
    guard let subscription = state.subscription else { return false }
    return subscription.status == truth.status && subscription.period.productId == truth.product
      && subscription.period.expiresDate == truth.expires && subscription.gracePeriodExpiresDate == truth.grace
      && subscription.renews == truth.renews && subscription.renewal?.productId == truth.nextProduct
      && subscription.period.commitment == truth.commitment
      && subscription.renewal?.nextCommitment == truth.nextCommitment
  }

  @Test(arguments: seeds)
  func `in order, each report leads to the truth`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let story = Self.story(&random)
    var state = SubscriptionState()
    for (report, truth) in zip(story.reports, story.truths) {
      let before = state.subscription
      let events = state.events(report)
      #expect(Self.isTrue(state, truth), "seed \(seed): \(report.statement.cause)")
      if before == state.subscription { #expect(events.isEmpty, "seed \(seed)") }
    }
  }

  @Test(arguments: seeds)
  func `any order and any duplicates lead to the same state, and a repetition publishes nothing`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let story = Self.story(&random)
    var inOrder = SubscriptionState()
    for report in story.reports { inOrder.apply(report) }
    for _ in 0..<4 {
      var reports = story.reports
      for _ in 0..<5 { reports.append(story.reports.randomElement(using: &random) ?? story.reports[0]) }
      reports.shuffle(using: &random)
      var state = SubscriptionState()
      for report in reports {
        let before = state.subscription
        for event in state.events(report) {
          #expect(Self.isPossible(event, from: before, to: state.subscription), "seed \(seed): \(event)")
        }
      }
      #expect(state == inOrder, "seed \(seed)")
      for report in reports { #expect(state.events(report) == [], "seed \(seed)") }
    }
  }

  @Test(arguments: seeds)
  func `if the last report arrives, the state is the truth whatever was lost before it`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let story = Self.story(&random)
    var state = SubscriptionState()
    let isAboutNow = story.reports.last?.period?.expiresDate == story.truth.expires
    for report in story.reports.dropLast() where Bool.random(using: &random) { state.apply(report) }
    if let last = story.reports.last { state.apply(last) }
    // A refund of an earlier period does not show the present one.
    if isAboutNow { #expect(Self.isTrue(state, story.truth), "seed \(seed)") }
    if let answer = story.answer() { state.apply(answer) }
    #expect(Self.isTrue(state, story.truth), "seed \(seed): after Apple's answer")
  }

  /// Whether an event agrees with the states before and after it.
  static func isPossible(_ event: SubscriptionEvent, from before: Subscription?, to after: Subscription?) -> Bool {
    guard let after else { return false }
    guard let before else { return true }
    let isEntitled = after.status == .active || after.status == .gracePeriod
    return switch event {
    case .started: false
    case .renewed, .upgraded: isEntitled && before.status == after.status
    case .resubscribed: isEntitled && before.period != after.period
    case .recovered: after.status == .active && (before.status == .gracePeriod || before.status == .billingRetry)
    case .expired: before.status != .expired && after.status == .expired
    case .revoked: before.status != .revoked && after.status == .revoked
    case .reinstated: before.status == .revoked && isEntitled
    case .extended: after.end.flatMap { end in before.end.map { $0 < end } } ?? false
    case .gracePeriodEntered: before.status != .gracePeriod && after.status == .gracePeriod
    case .billingRetryEntered: before.status != .billingRetry && after.status == .billingRetry
    case .renewalDisabled: before.renews && !after.renews
    case .renewalEnabled: !before.renews && after.renews
    case .commitmentRenewalDisabled, .commitmentRenewalEnabled:
      before.renewal?.nextCommitment?.autoRenewStatus != after.renewal?.nextCommitment?.autoRenewStatus
    case .productChangeScheduled: after.scheduledProduct != nil && after.scheduledProduct != before.scheduledProduct
    case .productChangeCancelled: before.scheduledProduct != nil && after.scheduledProduct == nil
    case .priceIncreasePending, .priceIncreaseAccepted:
      before.renewal?.priceIncrease != after.renewal?.priceIncrease
    case .offerRedeemed: true
    case .corrected: before != after
    }
  }
}
