// Tests counters, the state of effects, and tables.

import AppStore
import AppStoreServerAPI
import MillraceTime
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceWorker
import MillraceTesting
import Testing

/// Counts subscribers who left. Publishes the counters, the effects and a table value when a subscriber renews.
private struct Accountant: NotificationWorker {
  static let name = "accountant"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let topic = "prices"

  private let prices: TopicTable<[String: String]>

  init(_ setup: WorkerSetup) throws {
    prices = try setup.table(Self.topic, [:]) { table, record in
      table[String(decoding: record.key ?? [], as: UTF8.self)] = record.value.map {
        String(decoding: $0, as: UTF8.self)
      }
    }
  }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .expired: return .done(.counting("left/all").counting("left/voluntary", by: 2))
    case .didFailToRenew:
      _ = try await context.once("mail/\(notification.key)", body: [1]) { _ in [7] }
      return .ignore
    case .gracePeriodExpired:
      _ = try await context.once("mail/\(notification.key)", body: [1]) { _ in throw HandlerFailed("not now") }
      return .ignore
    case .didRenew:
      let tally = try await context.tally(of: ["left/", "mail/"])
      return try .emit(
        Report(
          all: tally.counters["left/all"] ?? 0, voluntary: tally.counters["left/voluntary"] ?? 0,
          mails: tally.effects.count { $0.value == .ended([7]) },
          open: tally.effects.count { if case .open = $0.value { true } else { false } },
          own: await context.effect("mail/\(notification.key)") != nil, price: try await prices.current()["monthly"]))
    default: return .ignore
    }
  }

  struct Report: WorkerEvent {
    static let eventName = "report"
    var all: Int64
    var voluntary: Int64
    var mails: Int
    var open: Int
    var own: Bool
    var price: String?
  }
}

@Suite(.timeLimit(.minutes(15))) struct CountersAndTablesTests {
  private static var setup: WorkerHarness.Setup {
    var setup = WorkerHarness.Setup()
    setup.lanes = 3
    setup.tables = [Accountant.topic]
    return setup
  }

  @Test func `counters ignore duplicates and can be summed over the lanes`() async throws {
    try await WorkerHarness.run(Accountant.self, Self.setup) { harness in
      for _ in 0..<7 {
        let fixture = try await harness.receive(.expired, .voluntary)
        try await harness.receive(again: fixture)
      }
      try await harness.receive(.didRenew)
      let data = try #require(try await harness.events().first).data
      guard case .object(let report) = data else { return }
      #expect(report["all"] == 7 && report["voluntary"] == 14)
      let tally = try await LedgerTally.read(harness.topics, in: harness.log, prefixes: ["left/"])
      #expect(tally.counters == ["left/all": 7, "left/voluntary": 14])
      #expect(try await LedgerTally.read(harness.topics, in: harness.log, prefixes: ["right/"]) == LedgerTally())
    }
  }

  @Test func `effects are reported as open or ended, in their lane and in the sum`() async throws {
    try await WorkerHarness.run(Accountant.self, Self.setup) { harness in
      try await harness.receive(.didFailToRenew) { $0.setOriginalTransactionId("2000000000000001") }
      try await harness.receive(.gracePeriodExpired) { $0.setOriginalTransactionId("2000000000000002") }
      try await harness.receive(.didRenew) { $0.setOriginalTransactionId("2000000000000001") }
      try await harness.receive(.didRenew) { $0.setOriginalTransactionId("2000000000000003") }
      let reports = try await harness.events().compactMap { event -> JSONObject? in
        if case .object(let report) = event.data { report } else { nil }
      }
      #expect(reports.map { $0["own"] } == [true, false])
      let report = try #require(reports.first)
      #expect(report["mails"] == 1 && report["open"] == 1)
    }
  }

  @Test func `a table has all records written before the read, and tombstones remove entries`() async throws {
    try await WorkerHarness.run(Accountant.self, Self.setup) { harness in
      func price() async throws -> JSON? {
        try await harness.receive(.didRenew)
        guard case .object(let report)? = try await harness.events().last?.data else { return nil }
        return report["price"]
      }
      func write(_ value: String?) throws {
        try harness.log.append(
          ProducerRecord(topic: Accountant.topic, key: Array("monthly".utf8), value: value.map { Array($0.utf8) }))
      }
      #expect(try await price() == nil)
      try write("9.99")
      try write("10.99")
      #expect(try await price() == "10.99")
      try write(nil)
      #expect(try await price() == nil)
    }
  }

  @Test func `reading a table throws if its topic is missing`() async throws {
    let log = InMemoryLog(clock: .system)
    let table = TopicTable("none", in: log, 0) { count, _ in count += 1 }
    await #expect(throws: (any Error).self) { try await table.current() }
    try log.createTopic("none", partitions: 1)
    for _ in 0..<2_500 { try log.append(ProducerRecord(topic: "none", key: [1], value: [1])) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await table.current() } }
      for try await count in group { #expect(count == 2_500) }
    }
  }

  @Test func `a setup without a log provides no tables`() throws {
    let setup = WorkerSetup(
      name: "accountant", configuration: MillraceConfiguration(), clock: .system, logger: .init(label: "test"),
      http: NoServer())
    #expect(throws: MillraceError.self) { try Accountant(setup) }
  }
}

private struct NoServer: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    throw TransportFailure("the test has no server", .notSent)
  }
}
