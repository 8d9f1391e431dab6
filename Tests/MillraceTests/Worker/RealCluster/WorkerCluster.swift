// A worker's topics on a cluster, its processes, and what they wrote. Waits by following topics or, for commits, by asking again; never by the clock.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Clocks
import Kafka
import Logging
@testable import Millrace
import MillraceTesting
import ServiceLifecycle
import Testing

actor WorkerCluster {
  nonisolated let log: KafkaLog
  nonisolated let topics: WorkerTopics
  nonisolated let lanes: Int

  private nonisolated let prefix: String
  private nonisolated let connection: Connection
  private let configuration: MillraceConfiguration
  private let policy: WorkerPolicy
  private let clock = MillraceClock.system
  private var fixtures: NotificationFixtures

  /// - Parameter other: Whose notifications are believed here, too.
  init(
    _ kind: ClusterKind, lanes: Int = 2, brokers: Int = 1, properties: [String: String] = [:],
    like other: WorkerCluster? = nil, _ change: (inout WorkerPolicy) -> Void = { _ in }
  ) async throws {
    var generator = SystemRandomNumberGenerator()
    prefix = "test-\(String(generator.next(), radix: 36))."
    connection = try await Connection(kind, brokers: brokers, properties: properties, clientID: prefix)
    log = connection.log
    // Tests run side by side, and handlers know notifications by their ids.
    let own = try NotificationFixtures(from: clock.wallTime, seed: generator.next())
    fixtures = await other?.fixtures ?? own
    var configuration = MillraceConfiguration()
    configuration.topics.prefix = prefix
    configuration.apps = [fixtures.appSettings()]
    self.configuration = configuration
    var policy = Tally.policy
    change(&policy)
    self.policy = policy
    topics = WorkerTopics(Tally.self, configuration, policy)
    self.lanes = lanes
    for name in topics.laneTopics { try await connection.createTopic(name, partitions: lanes) }
    for name in topics.others { try await connection.createTopic(name, partitions: 1) }
  }

  nonisolated var input: String { topics.inputs.first ?? "" }
  /// This process's own cluster, where it is that one.
  nonisolated var embedded: EmbeddedCluster? { connection.embedded }
  nonisolated var losses: BrokerLosses { connection.losses }

  // MARK: - In

  /// Notifications as the ingress writes them, each about a subscription of its own.
  @discardableResult
  func receive(_ types: NotificationTypeV2...) async throws -> [NotificationFixture] {
    var fixtures = fixtures
    var made: [NotificationFixture] = []
    for type in types { made.append(try await fixtures.next(SampleKind(type), to: input)) }
    self.fixtures = fixtures
    try await write(made.map(\.producerRecord))
    return made
  }

  /// A notification with so much in its payload that its record's value has a megabyte, nearly all that a topic takes
  /// that nobody gave a limit.
  func receiveLarge(_ type: NotificationTypeV2) async throws -> NotificationFixture {
    var fixtures = fixtures
    let made = try await fixtures.next(SampleKind(type), to: input) { draft in
      // Four thirds of it in Base64, and the rest of a notification.
      draft.payload["padding"] = .string(String(repeating: "x", count: 738_000))
    }
    self.fixtures = fixtures
    try await write([made.producerRecord])
    return made
  }

  nonisolated func write(_ records: [ProducerRecord]) async throws {
    let writer = try log.makeWriter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      defer { writer.shutDown() }
      _ = try await writer.send(contentsOf: records)
    }
  }

  // MARK: - Processes

  /// A process of the worker, from its start on.
  func start(instance: String? = nil, logger: Logger? = nil) async throws -> WorkerInstance {
    let logger = logger ?? Logger(label: Tally.name) { _ in SwiftLogNoOpLogHandler() }
    return WorkerInstance(
      try await WorkerProcess.runtime(
        Tally.self, configuration, policy, log: log, exchange: NoAppStore(), verifier: fixtures.verifier,
        instance: instance, clock: clock, logger: logger))
  }

  // MARK: - Out

  /// What `read_committed` finds, as soon as it is enough.
  nonisolated func records(
    in topic: String, until isEnough: ([ConsumerRecord]) -> Bool
  ) async throws -> [ConsumerRecord] {
    let partitions = try await partitions(of: topic)
    let (pages, feed) = AsyncThrowingStream.makeStream(of: [ConsumerRecord].self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for partition in partitions {
        group.addTask { [log] in
          do {
            try await log.scan(partition, from: .earliest, to: .never, upTo: 1_000) { feed.yield($0) }
          } catch {
            feed.finish(throwing: error)
          }
        }
      }
      defer { group.cancelAll() }
      var found: [ConsumerRecord] = []
      for try await page in pages {
        found += page
        if isEnough(found) { break }
      }
      return found
    }
  }

  /// What `read_committed` finds now, once no transaction is open.
  nonisolated func records(in topic: String) async throws -> [ConsumerRecord] {
    let found = Found()
    for partition in try await partitions(of: topic) {
      try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: 1_000) { found.add($0) }
    }
    return found.records
  }

  /// What the group has committed of each source, topics without their prefix, as soon as that is all there is; nil where
  /// the task was cancelled before.
  nonisolated func committed() async throws -> [TopicPartition: Int64]? {
    let reader = try log.makeReader(group: topics.group, topics: topics.sources, options: LogReaderOptions())
    var sources: [TopicPartition] = []
    for topic in topics.sources { sources += try await partitions(of: topic) }
    // Commits are no topic that could be followed. Each question is a request, so that brokers set the pace.
    var last: [TopicPartition: Int64]?
    while !Task.isCancelled {
      do {
        let answer = try await reader.committed(sources, timeout: .seconds(30))
        let found = Dictionary(answer.map { ($0.partition, $0.offset) }) { $1 }
        // Where a topic ends is asked of a client made for it: only when there is something new. And after the commits, or
        // what was appended in between would be forgotten.
        if found != last, try await isAll(found, of: sources) { return unprefixed(found) }
        last = found
      } catch {
        // What a test made brokers answer is not for a worker alone.
        guard (error as? KafkaError)?.isRetriable == true else { throw error }
      }
    }
    return nil
  }

  private nonisolated func isAll(
    _ committed: [TopicPartition: Int64], of sources: [TopicPartition]
  ) async throws -> Bool {
    let ends = try await log.highWatermarks(of: sources, timeout: .seconds(30))
    return ends.allSatisfy { committed[$0.key, default: 0] == $0.value.upperBound }
  }

  private nonisolated func unprefixed(_ offsets: [TopicPartition: Int64]) -> [TopicPartition: Int64] {
    Dictionary(
      offsets.map { partition, offset in
        let topic = String(partition.topic.dropFirst(prefix.count))
        return (TopicPartition(topic: topic, partition: partition.partition), offset)
      }
    ) { $1 }
  }

  private nonisolated func partitions(of topic: String) async throws -> [TopicPartition] {
    let count = try await log.partitionCounts(of: [topic], timeout: .seconds(30))[topic] ?? 0
    return (0..<Int32(count)).map { TopicPartition(topic: topic, partition: $0) }
  }

  /// The events, once every one of these notifications has one.
  @discardableResult
  nonisolated func events(for fixtures: [NotificationFixture]) async throws -> [CountedEvent] {
    let wanted = Set(fixtures.map(\.id))
    let records = try await records(in: topics.events) { records in
      wanted.isSubset(of: records.compactMap { CountedEvent($0)?.notification })
    }
    return records.compactMap { CountedEvent($0) }
  }

  nonisolated func events() async throws -> [CountedEvent] {
    try await records(in: topics.events).compactMap { CountedEvent($0) }
  }
}

/// One process of the worker.
struct WorkerInstance {
  let runtime: WorkerRuntime
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  init(_ runtime: WorkerRuntime) {
    self.runtime = runtime
    let group = ServiceGroup(
      configuration: .init(services: [runtime], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }))
    self.group = group
    running = Task { try await group.run() }
  }

  /// Leaves as on SIGTERM.
  func leave() async throws {
    await group.triggerGracefulShutdown()
    try await end()
  }

  /// What ended it.
  func failure() async -> (any Error)? {
    do { try await end() } catch { return error }
    return nil
  }

  /// A test whose time is over does not wait for it.
  private func end() async throws {
    try await withTaskCancellationHandler {
      try await running.value
    } onCancel: {
      running.cancel()
    }
  }

  /// Ends it as it is.
  func kill() async {
    running.cancel()
    _ = await running.result
  }
}

private struct NoAppStore: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    throw TransportFailure("the test has no App Store", .notSent)
  }
}
