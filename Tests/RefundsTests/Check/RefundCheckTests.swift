import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import Refunds

@Suite(.timeLimit(.minutes(15))) struct RefundCheckTests {
  private final class Reports: Sendable {
    private let all = Mutex<[RefundCheck.Report]>([])
    var list: [RefundCheck.Report] { all.withLock { $0 } }
    var take: @Sendable (RefundCheck.Report) throws -> Void { { report in self.all.withLock { $0.append(report) } } }
  }

  private func customer(_ id: Int64) -> RefundCustomer {
    RefundCustomer("\(id)", bundleId: RefundStage.bundleId, environment: .production)
  }

  /// Creates a customer with refunded purchases, whose notifications did not arrive.
  private func refunded(_ count: Int, on stage: RefundStage) throws -> [Int64] {
    try stage.world.withState { state in
      let realm = try #require(state.realm(bundleId: RefundStage.bundleId, environment: .production))
      let customer = try state.addCustomer(to: realm, at: stage.origin)
      let ids = try (0..<count).map { _ in try state.purchase(RefundStage.coins, by: customer, at: stage.origin) }
      for (number, id) in ids.enumerated() { try state.refund(id, at: stage.origin + .seconds(60 + number)) }
      return ids
    }
  }

  @Test func `refunds without a notification are found, published and acted on`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(25, on: stage)
    try await stage.running {
      // Some notifications did arrive.
      for record in stage.told().prefix(5) { try stage.log.append(stage.v2(record)) }
      try await stage.settle()
      let reports = Reports()
      let summary = try await stage.check().run([customer(ids[0])], report: reports.take)
      #expect(summary == .init(asked: 1, refunds: 25, reported: 5, published: 20))
      #expect(reports.list.count == 20)
      try await stage.settle()
    }
    #expect(try stage.table().filter { $0.value["revoked"] == true }.count == 25)
    #expect(try stage.events().map(\.name) == [String](repeating: "entitlement.revoked", count: 25))
    #expect(try stage.events().filter { $0.data["source"] == "refund-history" }.count == 20)
    try EventSchemas.check(stage)
  }

  /// Apple's answers, in which one transaction lacks its app.
  private struct OddItemExchange: HTTPExchange {
    let exchange: SimulatedExchange
    let chain: SigningChain
    let odd: Int64

    func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
      let answer = try await exchange.send(request)
      do {
        var body = try JSONObject(parsing: answer.body)
        guard case .array(let tokens)? = body["signedTransactions"] else { return answer }
        body["signedTransactions"] = .array(try tokens.map { try changed($0) })
        return ExchangeAnswer(status: answer.status, headers: answer.headers, body: body.serialized())
      } catch {
        throw TransportFailure("\(error)", .unclear)
      }
    }

    private func changed(_ token: JSON) throws -> JSON {
      guard case .string(let jws) = token else { return token }
      var payload = try UnverifiedToken(parsing: Array(jws.utf8)).payload
      guard payload["transactionId"] == .string("\(odd)") else { return token }
      payload["bundleId"] = nil
      return .string(String(decoding: try chain.sign(payload.serialized()), as: UTF8.self))
    }
  }

  @Test func `a refund without its app is reported and left out, and the others and the next customers count`()
    async throws
  {
    let stage = try RefundStage()
    let (first, second) = (try refunded(3, on: stage), try refunded(1, on: stage))
    let exchange = OddItemExchange(exchange: stage.appStore, chain: stage.store.chain, odd: first[1])
    let check = RefundCheck(try stage.client(over: exchange), on: stage.log, prefix: "", clock: stage.clock)
    let reports = Reports()
    let summary = try await check.run([customer(first[0]), customer(second[0])], report: reports.take)
    #expect(summary == .init(asked: 2, refunds: 3, published: 3, skipped: 1))
    #expect(reports.list.contains { $0.line.hasPrefix("skipped") && $0.line.contains("signedTransactions[1]") })
    #expect(summary.sentence.contains("1 item not as documented"))
  }

  @Test func `a second run starts where the first one ended`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(45, on: stage)
    _ = try await stage.check().run([customer(ids[0])], report: { _ in })
    let before = stage.appStore.asked.count
    #expect(before == 3)
    try stage.happens { try $0.reverseRefund(ids[44], at: stage.clock.wallTime) }
    let again = try await stage.check().run([customer(ids[0])], report: { _ in })
    // One call with the revision, which returns no earlier refunds.
    #expect(again == .init(asked: 1))
    #expect(stage.appStore.asked.count == before + 1 && stage.appStore.asked.last?.contains("revision=") == true)
  }

  @Test func `an interrupted run continues, and a refund that is published twice counts once`() async throws {
    struct Interrupted: Error {}
    let stage = try RefundStage()
    let ids = try refunded(45, on: stage)
    let count = Mutex(0)
    await #expect(throws: (any Error).self) {
      try await stage.check().run([customer(ids[0])]) { _ in
        // Halfway through the second page.
        if count.withLock({
          $0 += 1; return $0 == 30
        }) {
          throw Interrupted()
        }
      }
    }
    let summary = try await stage.check().run([customer(ids[0])], report: { _ in })
    #expect(summary.refunds == 25)
    try await stage.running { try await stage.settle() }
    #expect(stage.log.records(in: NotificationFamily.foundRefunds.topic).count == 55)
    #expect(try stage.events().count == 45)
    #expect(try stage.table().count == 45)
  }

  @Test func `a customer unknown to Apple is reported, and the others are checked`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(1, on: stage)
    let reports = Reports()
    let summary = try await stage.check().run([customer(12_345), customer(ids[0])], report: reports.take)
    #expect(summary == .init(asked: 1, refunds: 1, published: 1, failed: 1))
    guard case .failed(let customer, let words)? = reports.list.first else {
      Issue.record("\(reports.list)")
      return
    }
    #expect(customer.transactionId == "12345" && words.contains("404"))
  }

  @Test func `if Apple rejects a revision, the check starts again`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(2, on: stage)
    try stage.log.append(
      RefundMarks.record("no-revision", of: customer(ids[0]), at: stage.clock.wallTime, prefix: ""))
    let summary = try await stage.check().run([customer(ids[0])], report: { _ in })
    #expect(summary == .init(asked: 1, refunds: 2, published: 2))
  }

  @Test func `recently seen customers are listed once, for this app and environment only`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(3, on: stage) + refunded(2, on: stage)
    for record in stage.told() { try stage.log.append(stage.v2(record)) }
    try stage.log.append(stage.v1(body: Array(#"{"notification_type":"REFUND","environment":"PROD"}"#.utf8)))
    func found(_ bundleId: String, _ environment: AppStoreEnvironment?, since: Timestamp) async throws
      -> [RefundCustomer]
    {
      try await RecentCustomers.load(
        since: since, bundleId: bundleId, environment: environment, from: stage.log, prefix: "")
    }
    let all = try await found(RefundStage.bundleId, .production, since: stage.origin)
    #expect(all.count == 2)
    #expect(Set(all.map(\.transactionId)).isSubset(of: Set(ids.map { "\($0)" })))
    #expect(try await found(RefundStage.bundleId, nil, since: stage.origin).count == 2)
    #expect(try await found(RefundStage.bundleId, .sandbox, since: stage.origin).isEmpty)
    #expect(try await found("com.example.other", nil, since: stage.origin).isEmpty)
    #expect(try await found(RefundStage.bundleId, nil, since: stage.clock.wallTime + .seconds(60)).isEmpty)
  }

  @Test func `the summary of a mass extension is not a customer`() async throws {
    let stage = try RefundStage()
    let ids = try refunded(1, on: stage)
    for record in stage.told() { try stage.log.append(stage.v2(record)) }
    let topic = NotificationFamily.renewalExtensions.topic
    try stage.log.createTopic(topic, partitions: 4)
    // As the ingress writes it: the key is the request's, and the id is the notification's.
    try stage.log.append(
      ProducerRecord(
        topic: topic, key: Array("758883e8-151b-47b7-abd0-60c4d804c2f5".utf8), value: Array("a.b.c".utf8),
        headers: [
          RecordHeader("ce_id", "5d5bd3f8-5e2c-4a51-9a0e-6f0a3f1f7f11"),
          RecordHeader("ce_source", "appstore/Production/\(RefundStage.bundleId)"),
          RecordHeader("ce_subject", "758883e8-151b-47b7-abd0-60c4d804c2f5"),
        ]))
    let customers = try await RecentCustomers.load(
      since: stage.origin, bundleId: RefundStage.bundleId, environment: nil, from: stage.log, prefix: "")
    #expect(customers.map(\.transactionId) == ids.map { "\($0)" })
  }

  /// The command's part of Apple's ten calls per second: a quarter of the configured share of 0.8.
  private static func budget(_ clock: MillraceClock) -> APIBudget { APIBudget(share: 0.8, part: 0.25, clock: clock) }

  /// Runs a check while virtual time advances only when nothing else can happen.
  private func run(
    _ customers: [RefundCustomer], on stage: RefundStage, _ time: ManualClock, _ budget: APIBudget
  ) async throws -> RefundCheck.Summary {
    let key = BudgetKey(bundleId: RefundStage.bundleId, environment: .production, endpoint: .getRefundHistory)
    return try await run(customers, on: stage, time, budget) { next in
      // The caller waits for a slot or for the end of a 429. A step is at most fifteen seconds, so that it does not
      // skip to a call's time limit of thirty. A call in progress ends by itself, and a pending timer will be set.
      next <= .seconds(15) && (budget.isAtRest(callers: 1) || budget.pause(of: key) != nil)
    }
  }

  /// Runs a check. `mayPass` decides whether time may advance by the given duration to the next timer.
  private func run(
    _ customers: [RefundCustomer], on stage: RefundStage, _ time: ManualClock, _ budget: APIBudget,
    mayPass: @escaping @Sendable (Duration) -> Bool
  ) async throws -> RefundCheck.Summary {
    let check = try stage.check(budget)
    return try await withThrowingTaskGroup(of: RefundCheck.Summary?.self) { group in
      group.addTask { try await check.run(customers, report: { _ in }) }
      group.addTask {
        while !Task.isCancelled {
          if let next = time.nextDeadline.map({ $0 - time.clock.now.elapsed }), mayPass(next) {
            time.advance(by: next)
          }
          await Task.yield()
        }
        return nil
      }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if let end { return end }
      }
      throw CancellationError()
    }
  }

  /// The times of the calls to Apple.
  private func moments(_ stage: RefundStage) -> [Timestamp] {
    stage.services.journal.filter { $0.endpoint == .getRefundHistory }.map(\.time)
  }

  @Test func `a check stays within its part of the budget`() async throws {
    let time = ManualClock()
    let stage = try RefundStage(clock: time.clock)
    let customers = try (0..<7).map { _ in customer(try refunded(1, on: stage)[0]) }
    let summary = try await run(customers, on: stage, time, Self.budget(time.clock))
    #expect(summary == .init(asked: 7, refunds: 7, published: 7))
    let asked = moments(stage)
    #expect(asked.count == 7)
    // Two calls per second, with a burst of two.
    for (index, moment) in asked.enumerated() {
      for later in asked.indices.dropFirst(index + 2) {
        #expect(asked[later] - moment >= .milliseconds(500) * (later - index - 1) - .milliseconds(1))
      }
    }
    #expect(asked[6] - asked[0] <= .seconds(4))
    #expect(stage.services.report.broken.isEmpty)
  }

  @Test func `the check waits after a 429, and checks no customer twice`() async throws {
    let time = ManualClock()
    let stage = try RefundStage(clock: time.clock)
    let customers = try (0..<5).map { _ in customer(try refunded(1, on: stage)[0]) }
    stage.services.inject(
      Fault(
        .tooManyRequests(.milliseconds(from: .seconds(10))), endpoints: [.getRefundHistory],
        from: stage.clock.wallTime + .milliseconds(900), count: 1))
    let summary = try await run(customers, on: stage, time, Self.budget(time.clock))
    #expect(summary == .init(asked: 5, refunds: 5, published: 5))
    let journal = stage.services.journal.filter { $0.endpoint == .getRefundHistory }
    let refusal = try #require(journal.firstIndex { $0.status == 429 })
    #expect(journal.count == 6 && journal[refusal + 1].time - journal[refusal].time >= .seconds(10))
    #expect(journal.count { $0.status == 200 } == 5 && journal[refusal].path == journal[refusal + 1].path)
    #expect(stage.services.report.broken.isEmpty, "\(stage.services.report.broken)")
  }

  @Test func `customers are read one per line`() {
    let found = RefundCustomer.named(
      in: "2000001\n\n  2000002  # came back\n# nobody\n2000001\n", bundleId: "b", environment: nil)
    #expect(found.map(\.transactionId) == ["2000001", "2000002"])
  }

  @Test func `a missing topic is reported before any call to Apple`() async throws {
    let stage = try RefundStage()
    let check = RefundCheck(try stage.client(), on: stage.log, prefix: "other.", clock: stage.clock)
    await #expect(throws: MillraceError.self) { try await check.run([customer(1)], report: { _ in }) }
    #expect(stage.appStore.asked.isEmpty)
  }
}
