// Tests what becomes of an answer: Apple's decision, none in time, and decisions in odd orders.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import Consumption
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct ConsumptionOutcomeTests {
  private static let day = Duration.seconds(86_400)

  /// Buys a product, requests a refund, and lets a worker answer.
  private func answered(
    _ stage: ConsumptionStage, _ product: String = ConsumptionStage.coins, version1: Bool = false
  ) async throws -> Int64 {
    let id = try stage.buy(product)
    try stage.askBack(id)
    try stage.deliver(version1: version1)
    try await stage.calm()
    return id
  }

  private func outcomes(_ stage: ConsumptionStage) throws -> [JSONObject] {
    try stage.events().filter { $0.name == ConsumptionOutcome.eventName }.map(\.data)
  }

  private func words(_ stage: ConsumptionStage) throws -> [String] {
    try outcomes(stage).map { $0["outcome"]?.text ?? "" }
  }

  @Test(arguments: [
    ("declined", ConsumptionStage.coins), ("declined", ConsumptionStage.premium), ("refunded", ConsumptionStage.coins),
    ("refunded", ConsumptionStage.level),
  ])
  func `a decision is published with the preference and the country`(word: String, product: String) async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage, product)
      #expect(try words(stage).isEmpty)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, word)
      try await stage.calm()
      let outcome = try #require(try outcomes(stage).first)
      #expect(outcome["outcome"] == .string(word) && outcome["refundPreference"] == "DECLINE")
      #expect(outcome["storefront"]?.text?.count == 3 && outcome["decidedAt"] != nil)
      #expect(outcome["revocationPercentage"] == nil || word == "refunded")
      #expect(try stage.events().first?.data["purchase"] == outcome["purchase"])
      // The wait ends without another event.
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try words(stage) == [word])
    }
    try stage.checkEvents()
  }

  @Test func `without a decision, the outcome is none after 30 days, and a later decision is not seen`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage)
      try await stage.pass(Self.day * 30 - .seconds(7_200), step: Self.day)
      #expect(try words(stage).isEmpty)
      try await stage.pass(.seconds(10_800), step: .seconds(1_800))
      #expect(try words(stage) == ["none"])
      _ = stage.takePending()
      try stage.decide(id, "declined")
      try await stage.calm()
      #expect(try words(stage) == ["none"])
      #expect(try outcomes(stage).first?["decidedAt"] == nil)
    }
    try stage.checkEvents()
  }

  @Test func `a reversal follows a refund, and a repeated or older decision publishes nothing`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      let refund = try stage.decision(id, "refunded")
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      let reversal = try stage.decision(id, "reversed")
      // The older one arrives last.
      for record in reversal + refund { try stage.log.append(record) }
      try await stage.calm()
      #expect(try words(stage) == ["reversed"])
      // Another refund of the same purchase is news, and its repetition under another id is not.
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "refunded")
      try await stage.calm()
      let repeated = try stage.repeated { $0.payload.notificationUUID = "0f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11" }
      try stage.log.append(repeated)
      try await stage.calm()
      #expect(try words(stage) == ["reversed", "refunded"])
    }
    try stage.checkEvents()
  }

  @Test func `a decision belongs to the last request before it, in whatever order they arrive`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      let first = try stage.decision(id, "declined")
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.askBack(id)
      try stage.deliver()
      try await stage.calm()
      let requests = try stage.events().filter { $0.name == ConsumptionSent.eventName }.map(\.notification)
      #expect(Set(requests).count == 2)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      for record in try stage.decision(id, "refunded") + first { try stage.log.append(record) }
      try await stage.calm()
      let events = try stage.events().filter { $0.name == ConsumptionOutcome.eventName }
      #expect(events.map { $0.data["outcome"]?.text } == ["refunded", "declined"])
      #expect(events.map(\.notification) == requests.reversed())
    }
    try stage.checkEvents()
  }

  @Test func `a refund after a version 1 answer is an outcome`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage, version1: true)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "refunded", version1: true)
      try await stage.calm()
    }
    let outcome = try #require(try outcomes(stage).first)
    #expect(outcome["outcome"] == "refunded" && outcome["refundPreference"] == "DECLINE")
    #expect(outcome["storefront"] == nil)
    try stage.checkEvents()
  }

  @Test func `a replay publishes no outcome again, plain or reapplied, before and after the wait`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let (one, other) = (try await answered(stage), try await answered(stage))
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(one, "declined")
      try await stage.calm()
      for _ in 0..<2 {
        let before = try stage.events().map(\.id)
        for reapply in [false, true] {
          try stage.log.replay(to: stage.topics, reapply: reapply)
          try await stage.calm()
          #expect(try stage.events().map(\.id) == before, "reapply: \(reapply)")
        }
        try await stage.pass(Self.day * 31, step: Self.day)
      }
      #expect(try words(stage) == ["declined", "none"] && stage.calls == 2 && other != one)
    }
    try stage.checkEvents()
  }

  @Test func `a refund that no answer preceded publishes nothing and has no deadline`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try stage.buy()
      let records = try stage.decision(id, "refunded")
      for record in records { try stage.log.append(record) }
      try await stage.calm()
      let envelope = NotificationEnvelope(try #require(stage.log.records(in: NotificationFamily.refunds.topic).first))
      #expect(ConsumptionWorker.deadline(of: envelope, receivedAt: stage.now) == nil)
    }
    #expect(try stage.events().isEmpty && stage.deadLetters().isEmpty)
  }

  @Test func `what the ledger remembers is read back, and an unknown format is refused`() throws {
    let time = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let question = ConsumptionQuestion(
      notificationId: "n", version: .v2, bundleId: "b", environment: .production, transactionId: "1", productId: "p",
      deadline: ConsumptionDeadline(signedDate: time, receivedAt: time))
    var answer = RememberedAnswer(purchase: AskedPurchase(question), askedAt: time, sentAt: time + .seconds(60))
    var memory = AnswerMemory()
    #expect(memory.value == nil)
    let sent = time + .seconds(60)
    let isNew = [memory.add(answer), memory.add(answer)]
    #expect(isNew == [true, false])
    #expect(try AnswerMemory(parsing: memory.value ?? []) == memory)
    let refund = RefundDecision(
      kind: .refunded, notificationId: "d", transactionId: "1", at: sent, percentage: 50_000)
    let taken = memory.apply(refund, at: sent)
    answer.decision = refund
    #expect(taken == answer)
    #expect(try AnswerMemory(parsing: memory.value ?? []).answers == [answer])
    let early = RefundDecision(kind: .declined, notificationId: "e", transactionId: "1", at: time + .seconds(-1))
    for now in [sent, sent, early.at + AnswerMemory.openTime] {
      let taken = memory.apply(early, at: now)
      #expect(taken == nil && memory.early == [early])
    }
    #expect(try AnswerMemory(parsing: memory.value ?? []) == memory)
    let forgotten = [memory.forget("e"), memory.forget("e")]
    #expect(forgotten == [true, false])
    let old = memory.apply(early, at: early.at + AnswerMemory.openTime)
    #expect(old == nil && memory.early.isEmpty)
    for text in ["{}", "no JSON", #"{"answers":[{}]}"#, #"{"answers":7}"#, #"{"answers":[],"early":[{}]}"#] {
      #expect(throws: UnreadableMemory.self) { try AnswerMemory(parsing: Array(text.utf8)) }
    }
  }

  // MARK: - Decisions before the answer

  /// Whether the ledger has a decision without an answer.
  private func keepsDecision(_ stage: ConsumptionStage) -> Bool {
    let values = stage.log.records(in: stage.topics.ledger).reduce(into: [[UInt8]?: [UInt8]]()) { values, record in
      values[record.key] = record.value
    }
    return values.values.contains { String(decoding: $0, as: UTF8.self).contains(#""early""#) }
  }

  @Test(arguments: [false, true])
  func `a decision that Apple signed before a late answer is no outcome, but its reversal is`(isReversed: Bool)
    async throws
  {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try stage.buy()
      try stage.askBack(id)
      let request = try stage.told()
      // The simulated App Store decides after twelve hours by itself.
      try await stage.pass(.seconds(11 * 3_600), step: .seconds(3_600))
      let refund = try stage.decision(id, "refunded")
      try await stage.pass(.seconds(9 * 3_600), step: .seconds(3_600))
      for record in request { try stage.log.append(record) }
      try await stage.calm()
      let sent = try #require(try stage.events().first { $0.name == ConsumptionSent.eventName })
      #expect(sent.data["lateBySeconds"] != nil)
      try await stage.pass(.seconds(5 * 3_600), step: .seconds(3_600))
      for record in refund { try stage.log.append(record) }
      try await stage.calm()
      if isReversed { try stage.decide(id, "reversed") }
      try await stage.calm()
      #expect(try words(stage) == (isReversed ? ["reversed"] : []))
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try words(stage) == (isReversed ? ["reversed"] : []), "Apple has decided, so none would be wrong")
    }
    try stage.checkEvents()
  }

  @Test func `a decision that is read before the request is no outcome of the answer, and none is not published`()
    async throws
  {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try stage.buy()
      try stage.askBack(id)
      let request = try stage.told()
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "declined")
      try await stage.calm()
      #expect(keepsDecision(stage))
      for record in request { try stage.log.append(record) }
      try await stage.calm()
      for reapply in [false, true] {
        #expect(try stage.events().map(\.name) == [ConsumptionSent.eventName])
        try stage.log.replay(to: stage.topics, reapply: reapply)
        try await stage.calm()
      }
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try stage.events().map(\.name) == [ConsumptionSent.eventName] && !keepsDecision(stage))
    }
    try stage.checkEvents()
  }

  @Test func `a decision while the result of the first call is unknown is no outcome, and none is not published`()
    async throws
  {
    let stage = try ConsumptionStage()
    try await stage.running {
      stage.fault(.answerLost, for: .seconds(5))
      let id = try await answered(stage)
      #expect(try stage.calls == 1 && stage.events().isEmpty)
      stage.team.answers { _ in .status(503) }
      try await stage.pass(.seconds(600), step: .seconds(60))
      try stage.decide(id, "refunded")
      try await stage.calm()
      stage.team.answers { _ in .status(200, TeamSystem.consented) }
      try await stage.pass(.seconds(3_600), step: .seconds(120))
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try stage.events().map(\.name) == [ConsumptionSent.eventName])
    }
    try stage.checkEvents()
  }

  @Test func `a decision without a request is forgotten after a week`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      try stage.decide(try stage.buy(), "refunded")
      try await stage.calm()
      try await stage.pass(.seconds(168 * 3_600), step: Self.day)
      #expect(keepsDecision(stage))
      try await stage.pass(.seconds(2 * 3_600), step: .seconds(1_800))
      #expect(!keepsDecision(stage))
    }
    #expect(try stage.events().isEmpty && stage.deadLetters().isEmpty)
  }

  @Test func `a version 1 refund decides about the purchase of its key only`() async throws {
    let stage = try ConsumptionStage(lanes: 1)
    try await stage.running {
      let one = try await answered(stage, version1: true)
      let other = try await answered(stage, version1: true)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      let rows = [one, other].map { id in
        """
        {"transaction_id":"\(id)","original_transaction_id":"\(id)",\
        "cancellation_date_ms":"\(stage.now.millisecondsSince1970)"}
        """
      }
      let body = """
        {"notification_type":"REFUND","environment":"PROD","bid":"\(ConsumptionStage.bundleId)",\
        "original_transaction_id":"\(one)","unified_receipt":{"latest_receipt_info":[\(rows.joined(separator: ","))]}}
        """
      var record = try stage.v1(body: Array(body.utf8))
      record.topic = NotificationFamily.refunds.topic
      try stage.log.append(record)
      try await stage.calm()
      let decided = try stage.events().filter { $0.name == ConsumptionOutcome.eventName }.map(\.transaction)
      #expect(decided == ["\(one)"] && one != other)
    }
    try stage.checkEvents()
  }

  // MARK: - Requests without an answer

  @Test(arguments: ["withheld", "withheld, then answered", "expired"])
  func `a decision about a request that ended without an answer is no outcome of an earlier answer`(end: String)
    async throws
  {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "declined")
      try await stage.calm()
      // The customer asks again, and has withdrawn the consent, or the team's system is away.
      stage.team.answers { _ in .status(end == "expired" ? 503 : 409) }
      try stage.askBack(id)
      try stage.deliver()
      try await stage.calm()
      if end == "expired" {
        try await stage.pass(.seconds(11 * 3_600), step: .seconds(600))
        let refund = try stage.decision(id, "refunded")
        try await stage.pass(.seconds(2 * 3_600), step: .seconds(600))
        for record in refund { try stage.log.append(record) }
      } else {
        if end == "withheld, then answered" {
          stage.team.answers { _ in .status(200, TeamSystem.consented) }
          try stage.log.replay(to: stage.topics, reapply: true)
          try await stage.calm()
        }
        try await stage.pass(.seconds(3_600), step: .seconds(600))
        try stage.decide(id, "refunded")
      }
      try await stage.calm()
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try words(stage) == (end == "withheld, then answered" ? ["declined", "refunded"] : ["declined"]))
      #expect(!stage.log.records(in: stage.topics.ledger).isEmpty && !keepsDecision(stage))
    }
    try stage.checkEvents()
  }

  // MARK: - Odd orders

  @Test func `a reversal without a refund is an outcome, and a version 2 decision ends a version 1 answer`()
    async throws
  {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage, version1: true)
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      _ = try stage.decision(id, "refunded")
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "reversed")
      try await stage.calm()
      #expect(try words(stage) == ["reversed"])
    }
    try stage.checkEvents()
  }

  @Test func `a refund and its reversal are published once, whatever is reapplied`() async throws {
    let stage = try ConsumptionStage()
    try await stage.running {
      let id = try await answered(stage)
      for word in ["refunded", "reversed"] {
        try await stage.pass(.seconds(3_600), step: .seconds(600))
        try stage.decide(id, word)
        try await stage.calm()
      }
      let before = try stage.events().map(\.id)
      for _ in 0..<2 {
        try stage.log.replay(to: stage.topics, reapply: true)
        try await stage.calm()
        #expect(try stage.events().map(\.id) == before)
      }
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try words(stage) == ["refunded", "reversed"])
    }
    try stage.checkEvents()
  }

  @Test func `the wait and the decision survive crashes and a move of the lanes`() async throws {
    let stage = try ConsumptionStage()
    let id = try stage.buy()
    try await stage.running {
      try stage.askBack(id)
      try stage.deliver()
      try await stage.calm()
      for process in stage.living { process.crash() }
    }
    try await stage.running {
      try await stage.pass(.seconds(3_600), step: .seconds(600))
      try stage.decide(id, "declined")
      try await stage.calm()
      #expect(try words(stage) == ["declined"])
      for process in stage.living { process.crash() }
    }
    try await stage.running {
      try await stage.pass(Self.day * 31, step: Self.day)
      #expect(try words(stage) == ["declined"] && stage.calls == 1)
    }
    try stage.checkEvents()
  }

  @Test func `beyond ten answers about one purchase, the earliest is forgotten and the others keep their outcomes`() {
    let start = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    var memory = AnswerMemory()
    for number in 0..<11 {
      let time = start + .seconds(86_400 * number)
      let question = ConsumptionQuestion(
        notificationId: "n\(number)", version: .v2, bundleId: "b", environment: .production, transactionId: "1",
        productId: "p", deadline: ConsumptionDeadline(signedDate: time, receivedAt: time))
      let isNew = memory.add(
        RememberedAnswer(purchase: AskedPurchase(question), askedAt: time, sentAt: time + .seconds(60)))
      #expect(isNew)
    }
    #expect(memory.answers.map(\.purchase.notificationUUID) == (1...10).map { "n\($0)" })
    let forgotten = memory.remove("n0")
    #expect(forgotten == nil)
    let decision = RefundDecision(
      kind: .refunded, notificationId: "d", transactionId: "1", at: start + .seconds(86_400 * 5 + 60))
    let taken = memory.apply(decision, at: decision.at)
    #expect(taken?.purchase.notificationUUID == "n5")
  }

  @Test func `requests without an answer do not displace an answer`() {
    let start = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    var memory = AnswerMemory()
    for number in 0..<14 {
      let time = start + .seconds(86_400 * number)
      let question = ConsumptionQuestion(
        notificationId: "n\(number)", version: .v2, bundleId: "b", environment: .production, transactionId: "1",
        productId: "p", deadline: ConsumptionDeadline(signedDate: time, receivedAt: time))
      _ = memory.add(
        RememberedAnswer(
          purchase: AskedPurchase(question), askedAt: time, sentAt: number == 0 || number == 12 ? time : nil))
    }
    let kept = memory.answers.map(\.purchase.notificationUUID)
    #expect(kept.count == 10 && Set(["n0", "n1", "n12", "n13"]).isSubset(of: kept), "\(kept)")
    // A decision about a request without an answer is no outcome of the first answer.
    let decision = RefundDecision(
      kind: .refunded, notificationId: "d", transactionId: "1", at: start + .seconds(86_400 * 5 + 60))
    let taken = memory.apply(decision, at: decision.at)
    #expect(taken == nil)
    #expect(memory.hasAnswer(before: start) && !memory.hasAnswer(before: start - .seconds(1)))
  }

  // MARK: - Other versions

  @Test func `an answer is published even if the earlier answers in the ledger are unreadable`() async throws {
    let stage = try ConsumptionStage()
    let id = try stage.buy()
    let name = AnswerMemory.name("\(id)")
    let state = StoredState(Array(#"{"answers":7}"#.utf8), key: Array("\(id)".utf8))
    for lane in 0..<2 as Range<Int32> {
      try stage.log.append(LedgerEntry.state(name, state).record(topic: stage.topics.ledger, lane: lane))
    }
    try await stage.running {
      try stage.askBack(id)
      try stage.deliver()
      try await stage.calm()
      #expect(try stage.events().map(\.name) == [ConsumptionSent.eventName])
      #expect(stage.deadLetters().isEmpty)
      try stage.decide(id, "refunded")
      try await stage.calm()
      #expect(stage.deadLetters().map(\.reason) == ["state-unreadable"])
    }
    try stage.checkEvents()
  }
}

private struct NoRefund: Error {}

extension ConsumptionStage {
  private static let types: [String: NotificationTypeV2] = [
    "refunded": .refund, "declined": .refundDeclined, "reversed": .refundReversed,
  ]

  /// Lets Apple decide now, and returns its notification.
  fileprivate func decision(_ id: Int64, _ word: String, version1: Bool = false) throws -> [ProducerRecord] {
    let now = now
    try world.withState { state throws(WorldError) in
      switch word {
      case "refunded": try state.refund(id, at: now)
      case "declined": try state.declineRefund(id, at: now)
      default: try state.reverseRefund(id, at: now)
      }
    }
    return try takePending().filter { $0.facts.kind.type == Self.types[word] }.compactMap { entry in
      var record = version1 ? try v1(entry) : try v2(entry)
      record?.topic = NotificationFamily.refunds.topic
      return record
    }
  }

  /// Lets Apple decide now, and writes its notification to the log.
  fileprivate func decide(_ id: Int64, _ word: String, version1: Bool = false) throws {
    for record in try decision(id, word, version1: version1) { try log.append(record) }
  }

  /// Returns the last refund with other contents.
  fileprivate func repeated(_ change: (inout NotificationContents) -> Void) throws -> ProducerRecord {
    guard let entry = entries().last(where: { $0.facts.kind.type == .refund }) else { throw NoRefund() }
    var record = try v2(entry, changing: change)
    record.topic = NotificationFamily.refunds.topic
    return record
  }
}
