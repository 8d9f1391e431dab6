// 10,000 random histories of one customer: any notifications lost, in any order, repeated, with fields left out, and with
// answers of Apple in between, some of them out of date. The state is what Apple's newest word says, and the questions that
// it leads to end in the truth.

import AppStore
import AppStoreSigning
import Testing

@testable import Subscriptions

@Suite struct RandomHistoryTests {
  private static let margin = Duration.seconds(3_600)
  private static let historiesPerSeed: UInt64 = 500

  /// The reports of one history that reached Millrace.
  struct History {
    var story: Story
    var reports: [SubscriptionReport]

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var story = SubscriptionPropertyTests.story(&random)
      // The whole history was lost once in a while, except for its last notification.
      let losses: [Double] = [0, 0.2, 0.5, 0.9, 1]
      let loss = losses.randomElement(using: &random) ?? 0
      let shares: [Double] = [0, 0, 0.1, 0.5]
      let incomplete = shares.randomElement(using: &random) ?? 0
      var reports: [SubscriptionReport] = []
      for (index, notice) in story.notices.enumerated() {
        let isLast = index == story.notices.count - 1
        if !isLast, Double.random(in: 0..<1, using: &random) < loss { continue }
        var notice = notice
        if Double.random(in: 0..<1, using: &random) < incomplete { Self.leaveOut(of: &notice, &random) }
        if let report = notice.report { reports.append(report) }
      }
      story.wait(days: 1)
      for answer in story.answers where Bool.random(using: &random) {
        var answer = answer
        if Int.random(in: 0..<4, using: &random) == 0 {
          // Apple signs an answer again that is out of date.
          let later = answer.statement.signedDate + .seconds(Int64.random(in: 1...7_200, using: &random))
          answer.sign(at: min(later, story.now))
        }
        reports.append(answer)
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        if let copy = reports.randomElement(using: &random) { reports.append(copy) }
      }
      self.story = story
      self.reports = reports.shuffled(using: &random)
    }

    private static func leaveOut(of notice: inout Story.Notice, _ random: inout SeededGenerator) {
      let kept: Set<String> = ["originalTransactionId"]
      let transaction = JWSTransactionDecodedPayload.documentedFields.map(\.name).filter { !kept.contains($0) }
      let renewal = JWSRenewalInfoDecodedPayload.documentedFields.map(\.name).filter { !kept.contains($0) }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let value: JSON? = Bool.random(using: &random) ? .null : nil
        switch Int.random(in: 0..<4, using: &random) {
        case 0: notice.payload.data?.status = nil
        case 1: if let name = transaction.randomElement(using: &random) { notice.transaction?.json[name] = value }
        case 2: if let name = renewal.randomElement(using: &random) { notice.renewal?.json[name] = value }
        default: notice.renewal = nil
        }
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `a history ends in the truth, or in a state that has led to a question`(block: UInt64) throws {
    for seed in block * Self.historiesPerSeed..<(block + 1) * Self.historiesPerSeed {
      let history = History(seed: seed)
      var state = SubscriptionState(after: history.reports)
      #expect(try SubscriptionState(packed: state.packed) == state, "seed \(seed)")
      #expect(SubscriptionState(after: history.reports.reversed()) == state, "seed \(seed): the order decides")
      Self.checkNewestWord(history, state, seed)
      Self.checkQuestion(state, seed)
      // Apple is asked whenever a question is due, and answers with the truth.
      var asked = 0
      while !SubscriptionPropertyTests.isTrue(state, history.story.truth), asked < 50 {
        guard let question = state.question(margin: Self.margin) else {
          // The newest word that arrived says that the subscription has ended. What came later was lost.
          let newest = try #require(Self.newest(history.reports))
          #expect([.expired, .revoked].contains(state.subscription?.status), "seed \(seed)")
          #expect(newest.statement.status != .active && newest.statement.status != .billingGracePeriod, "seed \(seed)")
          break
        }
        let now = max(question.time(now: history.story.now, isAgain: asked > 0, margin: Self.margin), history.story.now)
        guard var answer = history.story.answer() else { break }
        answer.sign(at: now + .seconds(Int64(asked)))
        state.apply(answer)
        asked += 1
      }
      #expect(asked < 50, "seed \(seed): no answer explains the state")
    }
  }

  private static func newest(_ reports: [SubscriptionReport]) -> SubscriptionReport? {
    reports.max { $0.statement.isOlder(than: $1.statement) }
  }

  /// A customer whom Apple's newest word calls entitled is not denied, unless Apple signed a revocation later.
  private static func checkNewestWord(_ history: History, _ state: SubscriptionState, _ seed: UInt64) {
    guard let newest = newest(history.reports)?.statement, let status = newest.status else { return }
    guard let subscription = state.subscription else {
      #expect(state.question(margin: margin)?.isUrgent == true, "seed \(seed)")
      return
    }
    guard status == .active || status == .billingGracePeriod else { return }
    let isRevokedLater =
      subscription.period.revocationDate != nil && newest.isAbout(subscription.period)
      && newest.transactionSignedDate.map { $0 < subscription.period.signedDate } ?? false
    #expect(
      subscription.isEntitled(at: newest.signedDate, margin: margin) != isRevokedLater, "seed \(seed): \(subscription)")
  }

  /// No row entitles, or waits for Apple, without a question at its end or before.
  private static func checkQuestion(_ state: SubscriptionState, _ seed: UInt64) {
    guard let subscription = state.subscription else {
      #expect(state.question(margin: margin)?.isUrgent == true, "seed \(seed)")
      return
    }
    guard [.active, .gracePeriod, .billingRetry].contains(subscription.status) else { return }
    guard let question = state.question(margin: margin) else {
      Issue.record("seed \(seed): no question about \(subscription)")
      return
    }
    guard subscription.status != .billingRetry, !question.isUrgent else { return }
    let until = subscription.entitledUntil(margin: margin)
    #expect(until.map { question.at <= $0 } ?? false, "seed \(seed): asked after the end")
  }

  @Test func `commitments in every state occur in the histories`() {
    var seen: Set<String> = []
    for seed in 0..<1_000 as Range<UInt64> {
      for truth in History(seed: seed).story.truths where truth.commitment != nil {
        seen.insert(truth.status.rawValue)
        guard let term = truth.term else { continue }
        seen.insert("period \(term.number)")
        if !term.renews { seen.insert(truth.renews ? "billing without renewal" : "last period") }
        if term.price > 29_970 { seen.insert("higher price") }
        if term.product != truth.product { seen.insert(truth.nextProduct == term.product ? "next plan" : "later plan") }
      }
    }
    let expected =
      Subscription.Status.allCases.map(\.rawValue) + (1...3).map { "period \($0)" } + [
        "billing without renewal", "last period", "higher price", "next plan", "later plan",
      ]
    #expect(seen.isSuperset(of: expected), "\(seen.sorted())")
  }

  @Test func `each kind of uncertainty and of status occurs in the histories`() {
    var seen: Set<String> = []
    for seed in 0..<1_000 as Range<UInt64> {
      let state = SubscriptionState(after: History(seed: seed).reports)
      seen.insert(state.subscription.map { $0.status.rawValue } ?? "no transaction")
      if let uncertainty = state.subscription?.uncertainty { seen.insert(uncertainty.rawValue) }
    }
    let expected = Subscription.Status.allCases.map(\.rawValue) + Subscription.Uncertainty.allCases.map(\.rawValue)
    #expect(seen.isSuperset(of: expected), "\(seen.sorted())")
  }
}

extension SubscriptionReport {
  /// Signs all parts of an answer at another time.
  mutating func sign(at time: Timestamp) {
    period?.signedDate = time
    renewal?.signedDate = time
    statement.signedDate = time
    if statement.transactionSignedDate != nil { statement.transactionSignedDate = time }
  }
}
