// A rehearsed gap. The ingress is down for three days, and Apple gives up on some notifications and retries others
// while a backfill runs. In the end the topics contain every notification, and a worker causes each effect once.

import AppStore
import MillraceTime
import CoreMetrics
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceRecords
@testable import MillraceWorker
@testable import Operations

@Suite("A rehearsed gap", .timeLimit(.minutes(15)))
struct RehearsedGapTests {
  /// Publishes one event for each notification.
  private struct Teller: NotificationWorker {
    static let name = "teller"
    static let families: Set<NotificationFamily> = [.purchases]

    struct Told: WorkerEvent {
      static let eventName = "told"
      var notification: String
    }

    init(_ setup: WorkerSetup) {}

    func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
      try .emit(Told(notification: notification.id))
    }
  }

  @Test("after three days without an ingress nothing is missing or happens twice", arguments: [11] as [UInt64])
  func gap(seed: UInt64) async throws {
    let stage = try BackfillStage(
      environments: [.production, .sandbox], workers: [.init(name: Teller.name)], seed: seed)
    try await stage.delivering {
      func live(hours: Int) async throws {
        for _ in 0..<hours {
          try stage.buy(3)
          try await stage.pass(.seconds(3_600))
        }
      }
      try await live(hours: 6)
      let before = Set(stage.published())
      #expect(before == stage.told())

      // Production retries when nothing responds. Apple gives up at once if a proxy answers 404.
      stage.set(.status(404))
      try await live(hours: 24)
      stage.set(.down)
      try await live(hours: 48)
      #expect(Set(stage.published()) == before)

      stage.set(.up)
      try await live(hours: 2)
      let operation = BackfillOperation(try stage.parts()) { _ in }
      let selection = BackfillSelection(
        targets: stage.targets, from: stage.now - .seconds(3 * 86_400 + 6 * 3_600), to: stage.now)
      let run = try await operation.carryOut(try await operation.start(selection, by: "ann"))
      #expect(run.state == .done && run.counts.quarantined == 0)
      #expect(Set(stage.published()) == stage.told(), "seed \(seed)")

      // Apple's own retries arrive now, as duplicates.
      try await stage.exhaust()
    }
    let told = stage.told()
    let published = stage.published()
    #expect(Set(published) == told && told.count == (6 + 72 + 2) * 3 * 2)
    #expect(published.count > told.count, "Apple's retries did not race the backfill")
    let retried = Set(stage.published(.post)).intersection(stage.published(.history))
    #expect(!retried.isEmpty)
    try await effects(on: stage, of: told)
    print(
      """
      rehearsed gap: seed \(seed), \(told.count) notifications, \(stage.published(.history).count) from the history, \
      \(published.count - told.count) doubles removed, \(stage.appStore.calls) calls
      """)
  }

  /// Lets a worker read all topics, and checks that each notification has its effect once.
  private func effects(on stage: BackfillStage, of told: Set<String>) async throws {
    var policy = Teller.policy
    policy.commitInterval = .zero
    let topics = WorkerTopics(Teller.self, stage.configuration, policy)
    let runtime = try await WorkerProcess.runtime(
      Teller.self, stage.configuration, policy, log: stage.log.process("teller"), exchange: stage.appStore,
      metrics: NOOPMetricsHandler.instance, verifier: stage.verifier, instance: "1", clock: stage.clock,
      logger: BackfillStage.quiet)
    let running = Task { try await runtime.run() }
    func isRead() -> Bool {
      let committed = Dictionary(
        stage.log.committedOffsets(of: topics.group).map { ($0.partition, $0.offset) }
      ) { first, _ in first }
      return topics.inputs.allSatisfy { topic in
        Dictionary(grouping: stage.log.records(in: topic), by: \.partition).allSatisfy { partition, records in
          committed[TopicPartition(topic: topic, partition: partition), default: 0] > (records.last?.offset ?? -1)
        }
      }
    }
    try await stage.until {
      if runtime.readiness.isReady { return true }
      stage.time.advance(by: .milliseconds(50))
      return false
    }
    // Virtual time does not advance here, so no handler can reach its time limit.
    try await stage.until { isRead() }
    running.cancel()
    while await !runtime.hasEnded(running, stage.time) {}
    let events = try stage.log.records(in: topics.events).map { try JSONObject(parsing: $0.value ?? []) }
    let names = events.compactMap { $0["notification"].flatMap { String(jsonValue: $0) } }
    #expect(names.count == told.count && Set(names) == told)
    #expect(stage.log.records(in: topics.deadLetters).isEmpty)
  }
}

extension WorkerRuntime {
  /// Advances time until the task ends.
  fileprivate func hasEnded(_ running: Task<Void, any Error>, _ time: ManualClock) async -> Bool {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = await running.result }
      group.addTask {
        while !Task.isCancelled {
          time.advance(by: .milliseconds(100))
          await Task.yield()
        }
      }
      await group.next()
      group.cancelAll()
    }
    return true
  }
}
