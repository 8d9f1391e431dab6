// The history of lag and dead letters: its records, its charts, and who writes it.

import AppStore
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import Operations
import ServiceLifecycle
import TestEnvironment
import Testing

@testable import Console

private let topic = "millrace.control"
private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension HistorySample {
  fileprivate init(_ at: Timestamp, lag: Int64?, dead: Int64 = 0) {
    self.init(at: at, workers: ["refunds": Figures(lag: lag, dead: dead)])
  }
}

@Suite struct HistoryTableTests {
  private static let workers = ["refunds"]
  private let now = Deployment.now

  /// Folds samples as the console reads them.
  private func table(_ samples: [HistorySample]) throws -> HistoryTable {
    var table = HistoryTable()
    for (offset, sample) in samples.enumerated() {
      #expect(try table.fold(sample.record(to: topic).read(offset: Int64(offset)), of: ["refunds"]))
    }
    return table
  }

  private func lag(_ table: HistoryTable, at now: Timestamp) throws -> [Int64?] {
    try #require(table.rows(of: Self.workers, at: now).first).lag
  }

  @Test func `a sample is read as it was written, of the workers that are known`() throws {
    let sample = HistorySample(
      at: now,
      workers: ["refunds": .init(lag: .max, dead: 3), "consumption": .init(lag: nil, dead: 0), "old": .init(dead: 1)])
    let record = sample.record(to: topic)
    var expected = sample
    expected.workers["old"] = nil
    #expect(try HistorySample(record.value ?? [], of: ["refunds", "consumption"]) == expected)
    #expect(HistorySample.slot(ofKey: record.key) == 0)
  }

  @Test func `a day has 288 keys, and the next day replaces them`() throws {
    let days = (0..<864).map { HistorySample(now + HistorySample.interval * $0, lag: Int64($0)) }
    #expect(Set(days.map { $0.record(to: topic).key }).count == 288)
    let table = try table(days)
    let end = now + HistorySample.interval * 863
    let lastDay: [Int64?] = (576..<864).map { Int64($0) }
    #expect(try lag(table, at: end) == lastDay)
    // Half a day later half of it is too old.
    let later = try lag(table, at: end + .seconds(43_200))
    #expect(Array(later.prefix(144)) == Array(lastDay.suffix(144)))
    #expect(later.count == 287 && later.dropFirst(144).allSatisfy { $0 == nil })
    #expect(try lag(table, at: end + .seconds(86_400)).allSatisfy { $0 == nil })
    // A clock that is a day behind does not show samples of the future.
    #expect(try lag(table, at: end - .seconds(86_400)).allSatisfy { $0 == nil })
  }

  @Test func `an interval without a sample is a gap, and so is a worker without figures`() throws {
    let table = try table([0, 1, 4].map { HistorySample(now + HistorySample.interval * $0, lag: $0 == 1 ? nil : 7) })
    let values = try lag(table, at: now + HistorySample.interval * 4 + .seconds(299))
    #expect(values.suffix(6) == [nil, 7, nil, nil, nil, 7] && values.count == 288)
    // The next interval has no sample yet, and is no gap so far.
    let next = try lag(table, at: now + HistorySample.interval * 5)
    #expect(next.last == 7 && next.count == 287)
    #expect(try lag(table, at: now + HistorySample.interval * 6).suffix(2) == [7, nil])
    #expect(table.isSampled(at: now + .seconds(299)) && !table.isSampled(at: now + .seconds(600)))
    #expect(table.rows(of: ["other"], at: now).first?.dead.allSatisfy { $0 == nil } == true)
  }

  @Test func `of two samples of one interval the last counts, and a tombstone removes it`() throws {
    var table = try table([HistorySample(now, lag: 1), HistorySample(now + .seconds(10), lag: 2)])
    #expect(try lag(table, at: now).last == 2)
    let record = HistorySample(now, lag: 1).record(to: topic)
    #expect(try table.fold(ProducerRecord(topic: topic, key: record.key, value: nil).read(), of: ["refunds"]))
    #expect(try lag(table, at: now).last == .some(nil))
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"kind":"history","at":"yesterday","workers":{}}"#,
    #"{"kind":"history","at":"2026-01-01T00:00:00Z"}"#,
  ])
  func `a damaged sample is a gap, and is reported`(value: String) throws {
    var table = try table([HistorySample(now, lag: 1)])
    let key = HistorySample(now, lag: 1).record(to: topic).key
    #expect(throws: (any Error).self) {
      try table.fold(ProducerRecord(topic: topic, key: key, value: Array(value.utf8)).read(), of: ["refunds"])
    }
    #expect(!table.isSampled(at: now))
  }

  @Test(arguments: ["history/288", "history/-1", "history/", "history/x", "process/refunds/a", "pause/x", ""])
  func `other keys do not belong to the history`(key: String) throws {
    var table = HistoryTable()
    let value = HistorySample(now, lag: 1).record(to: topic).value
    #expect(
      try !table.fold(ProducerRecord(topic: topic, key: Array(key.utf8), value: value).read(), of: ["refunds"]))
  }

  @Test func `figures that are no counts are passed over`() throws {
    let value = #"""
      {"kind":"history","at":"2026-01-01T00:00:00Z","workers":{
        "a":{"lag":-1,"dead":2},"b":{"lag":1,"dead":-2},"c":{"lag":"1","dead":1},"d":7,"e":{"lag":99999999999999999999,"dead":0}}}
      """#
    let sample = try HistorySample(Array(value.utf8), of: ["a", "b", "c", "d", "e"])
    #expect(
      sample.workers == ["a": .init(lag: nil, dead: 2), "c": .init(lag: nil, dead: 1), "e": .init(lag: nil, dead: 0)])
  }
}

@Suite struct HistoryChartTests {
  private func chart(_ values: [Int64?]) -> HistoryChart { HistoryChart(id: "a", title: "Lag", values: values) }

  @Test(
    arguments: [
      ([nil, nil], ""), ([0, 0, 0], "M0 38H3"), ([nil, 5, nil], "M1 2H2"), ([0, 10, 10, 5], "M0 38H1V2H3V20H4"),
      ([4, nil, nil, 4], "M0 2H1M3 2H4"), ([.max, 0], "M0 2H1V38H2"),
    ] as [([Int64?], String)])
  func `the line has steps, and gaps where samples are missing`(values: [Int64?], path: String) {
    #expect(chart(values).path == path)
  }

  @Test func `the figures are text, too`() {
    #expect(chart([nil, 1_200, 3, 0]).words == "last 0, highest 1\u{202F}200, lowest 0; 1 of 4 samples are missing")
    #expect(chart([7, 3]).summary == "last 3, highest 7")
    #expect(chart([7, 3, nil]).summary == "last unknown, highest 7")
    #expect(chart([nil]).words == "no samples in the last 24 hours" && chart([nil]).summary == "no samples yet")
    let html = chart([1]).html.text
    #expect(html.contains("role=\"img\" aria-labelledby=\"a-title a-words\"") && !html.contains("style="))
  }
}

@Suite(.timeLimit(.minutes(15))) struct HistoryWriterTests {
  private let time = ManualClock(start: Deployment.now)
  private let log: InMemoryLog
  private let topics: ConsoleTopics

  init() throws {
    log = InMemoryLog(clock: time.clock)
    for topic in try Deployment.catalog().topics { try log.createTopic(topic.topic, partitions: topic.lanes) }
    topics = try Deployment.topics()
  }

  /// A console that has read the topics.
  private func store() async -> ConsoleStore {
    let store = ConsoleStore(topics, deadLetters: 100, clock: time.clock, real: time.clock)
    await store.begin(reading: [])
    await survey(store)
    await store.apply(log.records(in: topic))
    return store
  }

  private func survey(_ store: ConsoleStore, lag: Int64 = 4) async {
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 4) })
    let partition = TopicPartition(topic: "appstore.notifications.refunds", partition: 0)
    (facts.ranges, facts.committed) = ([partition: 0..<10], ["refunds": [partition: 10 - lag]])
    facts.at = time.clock.wallTime
    await store.learn(facts)
  }

  private func writer(_ store: ConsoleStore, _ clock: ManualClock, patience: Duration) -> HistoryWriter {
    HistoryWriter(
      topic: topic, store: store, log: { [log] in log }, logger: silent, clock: clock.clock, patience: patience)
  }

  @Test func `of two consoles one writes each sample, the other one if it ends, and a restart keeps the history`()
    async throws
  {
    // Each has a clock of its own, which tells when it has looked.
    let consoles = [
      (store: await store(), clock: ManualClock(), patience: Duration.seconds(12)),
      (store: await store(), clock: ManualClock(), patience: Duration.seconds(2)),
    ]
    let running = consoles.map { console in
      Task { [writer = writer(console.store, console.clock, patience: console.patience)] in await writer.run() }
    }
    /// Lets time pass until the log has so many samples, and then a minute.
    func pass(untilWritten count: Int, by present: [Int]) async {
      var rest = 12
      while log.records(in: topic).count < count || rest > 0 {
        if log.records(in: topic).count >= count { rest -= 1 }
        time.advance(by: HistoryWriter.pause)
        for index in present {
          let console = consoles[index]
          await survey(console.store)
          await console.store.apply(log.records(in: topic))
          await console.clock.waitForSleepers()
          console.clock.advance(by: HistoryWriter.pause)
          await console.clock.waitForSleepers()
        }
      }
    }
    await pass(untilWritten: 3, by: [0, 1])
    #expect(log.records(in: topic).count == 3)
    running[1].cancel()
    await running[1].value
    await pass(untilWritten: 5, by: [0])
    #expect(log.records(in: topic).count == 5)
    #expect(Set(log.records(in: topic).map(\.key)).count == 5, "each interval has one record")
    running[0].cancel()
    await running[0].value

    let restarted = await store()
    let row = try #require(await restarted.overview().history.first { $0.worker == "refunds" })
    #expect(row.lag.compactMap(\.self) == [4, 4, 4, 4, 4] && row.dead.compactMap(\.self) == [0, 0, 0, 0, 0])
    #expect(await restarted.missingSample(after: .zero) == nil, "the present interval has its sample")
  }

  @Test func `without present figures no sample is taken`() async throws {
    let store = await store()
    #expect(await store.missingSample(after: .seconds(1)) == nil)
    #expect(await store.missingSample(after: .zero)?.workers["refunds"] == .init(lag: 4, dead: 0))
    #expect(await store.missingSample(after: .zero)?.workers["consumption"] == .init(lag: nil, dead: 0))
    time.advance(by: .seconds(60))
    #expect(await store.missingSample(after: .zero) == nil, "Kafka has not answered for a minute")
    await survey(store)
    #expect(await store.missingSample(after: .zero) != nil)
    await store.begin(reading: [TopicPartition(topic: topic, partition: 0)])
    #expect(await store.missingSample(after: .zero) == nil, "the console reads again")
  }

  @Test func `a refused write is retried, and the page says why, without hiding what needs attention`() async throws {
    let store = await store()
    var writer = HistoryWriter(
      topic: topic, store: store,
      log: { throw KafkaError(code: .topicAuthorizationFailed, operation: "write \(topic)", reason: "not allowed") },
      logger: silent, clock: time.clock, patience: .zero)
    let refused = Task { [writer] in await writer.run() }
    try await waitUntil(await store.overview().historyProblem != nil)
    refused.cancel()
    await refused.value
    let context = PageContext(
      visitor: Visitor(name: "ada", mayAct: false), allowsActions: false, showsPayloads: false)
    #expect(
      OverviewView(state: await store.overview(), context: context).history.text.contains(
        "no new samples: Kafka: write"))
    #expect(await store.overview().problems == [:])

    writer = self.writer(store, time, patience: .zero)
    let running = Task { [writer] in await writer.run() }
    try await waitUntil(log.records(in: topic).count == 1)
    try await waitUntil(await store.overview().historyProblem == nil)
    running.cancel()
    await running.value
  }
}

@Suite(
  .enabled(if: SharedCluster.servers != nil, "needs a Kafka cluster in KAFKA_BOOTSTRAP_SERVERS"),
  .timeLimit(.minutes(15)))
struct HistoryOnClusterTests {
  @Test func `a restarted console shows the samples of the one before`() async throws {
    let prefix = "\(SharedCluster.uniqueName())."
    let kafka = KafkaConfiguration(bootstrapServers: SharedCluster.servers ?? "", clientID: "test")
    let configuration = Deployment.configuration { $0.topics.prefix = prefix }
    let catalog = try TopicCatalog.load(configuration)
    let operation = TopicsOperation(kafka, catalog: catalog, durability: .relaxed)
    #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    let topics = ConsoleTopics(catalog, configuration)
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    let now = MillraceClock.system.wallTime
    // Of yesterday, of an hour ago, and damaged.
    try await log.append([
      HistorySample(now - .seconds(90_000), lag: 5).record(to: prefix + topic),
      HistorySample(now - .seconds(3_600), lag: 6, dead: 2).record(to: prefix + topic),
      ProducerRecord(
        topic: prefix + topic, partition: 0, key: HistorySample(now - .seconds(7_200), lag: 0).record(to: topic).key,
        value: [0]),
    ])

    /// Runs a console without its pages until its history has so many samples.
    func show(_ samples: Int) async throws -> HistoryRow {
      let store = ConsoleStore(topics, deadLetters: 100, clock: .system)
      let reader = ConsoleReader(
        configuration: configuration, kafka: kafka, topics: topics, store: store, logger: silent,
        surveyInterval: .milliseconds(200))
      let writer = HistoryWriter(
        topic: prefix + topic, store: store, log: { log }, logger: silent, patience: .zero)
      let console = ServiceGroup(configuration: .init(services: [reader, writer], logger: silent))
      let running = Task { try await console.run() }
      func row() async -> HistoryRow? { await store.overview().history.first { $0.worker == "refunds" } }
      try await waitUntil((await row()?.dead.count { $0 != nil } ?? 0) >= samples)
      let found = try #require(await row())
      await console.triggerGracefulShutdown()
      try await running.value
      return found
    }
    let first = try await show(2)
    #expect(first.lag.compactMap(\.self) == [6], "the worker has not run, so its lag is unknown now")
    #expect(first.dead.compactMap(\.self) == [2, 0])
    let second = try await show(2)
    #expect(second.dead.compactMap(\.self).prefix(2) == [2, 0])
  }
}
