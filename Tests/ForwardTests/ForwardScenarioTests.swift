// A slow and failing receiver, over real sockets and in real time. It runs with one worker, and with two while one is
// killed. In the end the receiver has every notification, byte for byte and in the order of its key.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import KafkaClient
import Logging
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
import MillraceTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import Forward

@Suite(.serialized, .timeLimit(.minutes(15))) struct ForwardScenarioTests {
  private static let notifications = 240
  private static let keys = 24
  private static let lanes = 4

  @Test(arguments: [(seed: UInt64(1), workers: 1), (2, 2)])
  func `a slow and failing receiver ends with every notification, byte for byte and in order`(
    seed: UInt64, workers: Int
  ) async throws {
    let world = try await World(seed: seed)
    let faults = Faults(seed: seed)
    try await OldReceiver.serving({ post, tries in faults.reply(to: post, tries) }) { receiver in
      world.point(at: receiver.url)
      let exchange = AsyncHTTPExchange()
      var processes: [(log: InMemoryLog, task: Task<Void, any Error>)] = []
      for number in 0..<workers { processes.append(try await world.start("p\(number)", exchange)) }
      let clock = ContinuousClock()
      let began = clock.now
      try world.write()
      if workers == 2 {
        // One worker crashes halfway.
        await receiver.wait { $0.count > Self.notifications / 4 }
        processes[0].log.crash()
        processes[0].task.cancel()
      }
      let ids = Set(world.expected.map(\.id))
      await receiver.wait { ids.isSubset(of: $0.map(\.id)) }
      let seconds = began.duration(to: clock.now) / .seconds(1)
      for process in processes {
        process.task.cancel()
        _ = await process.task.result
      }
      try await exchange.shutdown()

      var taken: [String: [String]] = [:]
      var seen: Set<String> = []
      for post in receiver.taken {
        let expected = try #require(world.byID[post.id], "seed \(seed): unknown notification \(post.id)")
        #expect(post.body == expected.body, "seed \(seed): different bytes")
        if seen.insert(post.id).inserted { taken[expected.key, default: []].append(post.id) }
      }
      for (key, sent) in Dictionary(grouping: world.expected, by: \.key) {
        #expect(taken[key] == sent.map(\.id), "seed \(seed): key \(key) out of order")
      }
      #expect(world.deadLetters().isEmpty, "seed \(seed)")
      print(
        "forward, seed \(seed): \(Self.notifications) notifications, \(workers) worker(s), \(receiver.posts.count) posts,",
        "\(receiver.taken.count) taken, at most \(receiver.mostConnections) connections,",
        "\(Int(Double(Self.notifications) / seconds)) notifications/s with a receiver that answers in 5 to 20 ms")
    }
  }

  /// Always slow and often failing. The seed is per notification, so the result does not depend on the order of
  /// arrival.
  private struct Faults {
    let seed: UInt64

    func reply(to post: OldReceiver.Post, _ tries: Int) -> OldReceiver.Reply {
      var random = SeededGenerator(seed: post.id.utf8.reduce(seed &+ UInt64(tries)) { $0 &* 31 &+ UInt64($1) })
      let slow = Duration.milliseconds(Int64.random(in: 5...20, using: &random))
      // After six failures a notification succeeds, because the test covers recovery and not permanent failure.
      switch tries < 6 ? Int.random(in: 0..<100, using: &random) : 100 {
      case ..<10: return .answer(500, after: slow)
      case ..<15: return .answer(503, retryAfter: "0", after: slow)
      case ..<18: return .answer(429, after: slow)
      case ..<21: return .answer(404, after: slow)
      case ..<26: return .hangUp
      case ..<28: return .silence
      default: return .answer(200, after: slow)
      }
    }
  }

  /// Notifications of several families and both versions, and the workers that forward them.
  private final class World: Sendable {
    struct Expected: Sendable {
      var id: String
      /// The record key. Order is kept per key and family.
      var key: String
      var body: String
    }

    let log: InMemoryLog
    let expected: [Expected]
    let byID: [String: Expected]
    private let records: [ProducerRecord]
    private let fixtures: NotificationFixtures
    private let url = Mutex("")
    private let policy: WorkerPolicy
    private let identity: WorkerIdentity
    private let topics: WorkerTopics

    init(seed: UInt64) async throws {
      var settings = InMemoryLog.Settings()
      settings.sessionTimeout = .seconds(2)
      log = InMemoryLog(clock: .system, settings: settings)
      var random = SeededGenerator(seed: seed)
      var fixtures = try NotificationFixtures(from: MillraceClock.system.wallTime, seed: seed)
      var expected: [Expected] = []
      var records: [ProducerRecord] = []
      for _ in 0..<ForwardScenarioTests.notifications {
        let key = "20000000000\(Int.random(in: 10..<(10 + ForwardScenarioTests.keys), using: &random))"
        let isRefund = Int.random(in: 0..<5, using: &random) == 0
        let topic = (isRefund ? NotificationFamily.refunds : .subscriptions).topic
        if Int.random(in: 0..<10, using: &random) == 0 {
          let fixture = try fixtures.nextV1(isRefund ? .refund : .didRenew, to: topic)
          records.append(fixture.producerRecord)
          expected.append(
            Expected(
              id: fixture.id, key: "\(topic)/\(fixture.key)", body: String(decoding: fixture.bytes, as: UTF8.self)))
        } else {
          let fixture = try await fixtures.next(SampleKind(isRefund ? .refund : .didRenew), to: topic) {
            $0.setOriginalTransactionId(key)
          }
          records.append(fixture.producerRecord)
          let token = String(decoding: fixture.bytes, as: UTF8.self)
          expected.append(
            Expected(id: fixture.id, key: "\(topic)/\(key)", body: "{\"signedPayload\":\"\(token)\"}"))
        }
      }
      self.fixtures = fixtures
      self.records = records
      self.expected = expected
      byID = Dictionary(uniqueKeysWithValues: expected.map { ($0.id, $0) })
      var policy = Forwarder.policy
      policy.retryDelays = [.milliseconds(50), .milliseconds(200)]
      policy.maximumAttempts = 1_000
      policy.handlerTimeout = .seconds(4)
      policy.drainTimeout = .seconds(1)
      self.policy = policy
      identity = WorkerIdentity(name: "forward-old", families: NotificationFamily.all, policy: policy)
      topics = WorkerTopics(Forwarder.self, as: identity, MillraceConfiguration(), policy)
      for topic in topics.laneTopics { try log.createTopic(topic, partitions: ForwardScenarioTests.lanes) }
      for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    }

    func point(at url: String) { self.url.withLock { $0 = url } }

    func write() throws { for record in records { try log.append(record) } }

    func deadLetters() -> [ConsumerRecord] { log.records(in: topics.deadLetters) }

    func start(
      _ name: String, _ exchange: any HTTPExchange
    ) async throws -> (log: InMemoryLog, task: Task<Void, any Error>) {
      var settings = ForwardSettings()
      settings.url = url.withLock { $0 }
      settings.refusedAttempts = 1_000
      var configuration = MillraceConfiguration()
      var app = AppSettings()
      app.bundleId = fixtures.app.bundleId
      app.appAppleId = fixtures.app.appAppleId
      app.environments = [fixtures.app.environment]
      configuration.apps = [app]
      let process = log.process(name)
      let runtime = try await WorkerProcess.runtime(
        Forwarder.self, as: identity, configuration, policy, log: process, exchange: exchange,
        verifier: fixtures.verifier, settings: settings, clock: .system,
        logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() })
      let group = ServiceGroup(
        configuration: .init(services: [runtime], logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() }))
      return (process, Task { try await group.run() })
    }
  }
}
