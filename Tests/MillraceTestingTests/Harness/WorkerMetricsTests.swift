// Tests the metrics of a running worker.

import AppStore
import MillraceTime
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceWorker
import MillraceTesting
import Synchronization
import TestEnvironment
import Testing

/// A handler that waits until a test resumes it and ignores cancellation.
private struct Sleeper: NotificationWorker {
  static let name = "sleeper"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard case .expired = notification.event, context.attempt == 0 else { return .ignore }
    await withCheckedContinuation { waiter in Self.waiters.withLock { $0.append(waiter) } }
    return .ignore
  }
}

/// A handler that waits until a test resumes it. Its lane takes few records at a time.
private struct Slow: NotificationWorker {
  static let name = "slow"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)
  static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.recordsInFlight = 2
    return policy
  }

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    await withCheckedContinuation { waiter in Self.waiter.withLock { $0 = waiter } }
    return .ignore
  }
}

@Suite(.timeLimit(.minutes(15))) struct WorkerMetricsTests {
  private func value(_ name: String, _ labels: [String], in page: String) -> Double? {
    page.split(separator: "\n").first { line in
      line.hasPrefix("\(name){") && labels.allSatisfy { line.contains($0) }
    }?.split(separator: " ").last.flatMap { Double($0) }
  }

  @Test func `lag is 0 when all records are handled, and a delayed record adds none before it is due`() async throws {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    setup.lanes = 1
    try await WorkerHarness.run(Winback.self, setup) { harness in
      try await harness.receive(.expired, .voluntary)
      try await harness.receive(.didFailToRenew)
      try await harness.advance(by: .seconds(59))
      await harness.measureLag()
      let page = registry.render()
      #expect(value("millrace_worker_lag_seconds", [#"lane="0""#], in: page) == 0)
      // The topic with the delayed record ends with a transaction marker.
      func lagging(_ name: String) -> [Substring] {
        page.split(separator: "\n").filter { $0.hasPrefix("millrace_worker_\(name)_records{") && !$0.hasSuffix(" 0") }
      }
      #expect(lagging("unread").isEmpty, "\(lagging("unread"))")
      // The delayed record is not committed, and nothing else lags.
      #expect(lagging("lag").count == 1 && lagging("lag").allSatisfy { $0.contains("retry.") }, "\(lagging("lag"))")
      #expect(value("millrace_worker_handlers_stuck", [#"worker="winback""#], in: page) == 0)
    }
  }

  @Test func `an event is counted by name, once for a repeated notification`() async throws {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    try await WorkerHarness.run(Winback.self, setup) { harness in
      let notification = try await harness.receive(.expired, .voluntary)
      try await harness.receive(again: notification)
      let events = try await harness.events()
      let name = try #require(events.first).name
      #expect(
        value("millrace_worker_events_total", [#"event="\#(name)""#], in: registry.render()) == Double(events.count))
    }
  }

  @Test func `a malformed record of a shared topic is counted once by topic and has no other effect`() async throws {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    try await WorkerHarness.run(Winback.self, setup) { harness in
      for topic in [harness.topics.operations, harness.topics.control] {
        try harness.log.append(ProducerRecord(topic: topic, partition: 0, value: Array("{]".utf8)))
      }
      func counted(_ topic: String) -> Double? {
        value("millrace_worker_unreadable_records_total", [#"topic="\#(topic)""#], in: registry.render())
      }
      try await waitUntil(counted(harness.topics.operations) != nil && counted(harness.topics.control) != nil)
      try await harness.receive(.expired, .voluntary)
      #expect(try await harness.events().count == 1)
      #expect(counted(harness.topics.operations) == 1 && counted(harness.topics.control) == 1)
    }
  }

  @Test func `a transaction of another program stalls the reading of its topic, and nothing else says so`() async throws
  {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    setup.lanes = 1
    try await WorkerHarness.run(Winback.self, setup) { harness in
      try await harness.receive(.expired, .voluntary)
      let topic = NotificationFamily.subscriptions.topic
      func stalled() -> Double? {
        value("millrace_worker_reading_stalled_seconds", [#"topic="\#(topic)""#], in: registry.render())
      }
      await harness.measureLag()
      #expect(stalled() == 0)
      // A record of the transaction, and a notification behind it.
      let first = try #require(await harness.records(in: topic).first)
      let copy = ProducerRecord(
        topic: topic, partition: 0, key: first.key, value: first.value, headers: Array(first.headers))
      let writer = try harness.log.makeTransactionalWriter(id: "stranger", timeout: .seconds(900))
      try await writer.initialize(timeout: .seconds(1))
      try await writer.begin()
      _ = try await writer.send(copy)
      try harness.log.append(copy)
      for seconds in [0.0, 300, 600] {
        if seconds > 0 { try await harness.advance(by: .seconds(300)) }
        await harness.measureLag()
        #expect(stalled() == seconds)
        #expect(value("millrace_worker_lag_seconds", [#"lane="0""#], in: registry.render()) == 0)
        #expect(value("millrace_worker_unread_records", [#"topic="\#(topic)""#], in: registry.render()) == 2)
      }
      try await writer.abort(timeout: .seconds(1))
      try await harness.settle()
      await harness.measureLag()
      #expect(stalled() == 0)
    }
  }

  @Test func `records that retention deletes before a running worker reads them are counted once`() async throws {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    setup.lanes = 1
    try await WorkerHarness.run(Slow.self, setup) { harness in
      async let received = harness.receive(.expired, .voluntary)
      try await waitUntil(Slow.waiter.withLock { $0 != nil })
      // Copies wait for the first record, because they have its key. Most of them find no room in the lane.
      let topic = NotificationFamily.subscriptions.topic
      let first = try #require(await harness.records(in: topic).first)
      for _ in 0..<200 {
        try harness.log.append(
          ProducerRecord(topic: topic, partition: 0, key: first.key, value: first.value, headers: Array(first.headers)))
      }
      func lost() -> Double { value("millrace_worker_records_lost_total", [], in: registry.render()) ?? 0 }
      await harness.measureLag()
      #expect(lost() == 0)
      try harness.log.trim(TopicPartition(topic: topic, partition: 0), before: 201)
      await harness.measureLag()
      let count = lost()
      #expect((100...200).contains(count))
      await harness.measureLag()
      #expect(lost() == count)
      Slow.waiter.withLock { $0 }?.resume()
      _ = try await received
    }
  }

  @Test func `a handler that ignores its timeout counts as stuck until it returns, and adds lag`() async throws {
    let registry = PrometheusRegistry()
    var setup = WorkerHarness.Setup()
    setup.metrics = registry
    setup.lanes = 1
    setup.configuration.workers[Sleeper.name, default: WorkerEntry()].handlerTimeout = .seconds(30)
    try await WorkerHarness.run(Sleeper.self, setup) { harness in
      // Both calls return only after the handler's timeout.
      async let received = harness.receive(.expired, .voluntary)
      try await waitUntil(Sleeper.waiters.withLock { !$0.isEmpty })
      let start = harness.clock.wallTime
      async let advanced: Void = harness.advance(by: .seconds(20))
      try await waitUntil(harness.clock.wallTime >= start + .seconds(20))
      await harness.measureLag()
      #expect(value("millrace_worker_lag_seconds", [#"lane="0""#], in: registry.render()) == 20)
      #expect(value("millrace_worker_handlers_stuck", [], in: registry.render()) == 0)
      try await harness.advance(by: .seconds(10))
      _ = try await (received, advanced)
      #expect(value("millrace_worker_handlers_stuck", [], in: registry.render()) == 1)
      for waiter in Sleeper.waiters.withLock({ $0 }) { waiter.resume() }
      try await waitUntil(value("millrace_worker_handlers_stuck", [], in: registry.render()) == 0)
    }
  }
}
