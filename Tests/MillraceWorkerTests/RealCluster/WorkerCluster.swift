// The topics and processes of a worker on a cluster, and the records that it wrote. Waits by following topics or, for
// commits, by polling. Never waits for a fixed time.

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
import TestEnvironment
import Testing

actor WorkerCluster {
  nonisolated let log: KafkaLog
  nonisolated let topics: WorkerTopics
  nonisolated let lanes: Int

  private nonisolated let prefix: String
  nonisolated let connection: Connection
  private let configuration: MillraceConfiguration
  private let policy: WorkerPolicy
  private let clock = MillraceClock.system
  private var fixtures: NotificationFixtures

  /// - Parameter other: A cluster whose signed notifications are also accepted here.
  init(
    _ kind: ClusterKind, lanes: Int = 2, brokers: Int = 1, properties: [String: String] = [:],
    like other: WorkerCluster? = nil, _ change: (inout WorkerPolicy) -> Void = { _ in }
  ) async throws {
    var generator = SystemRandomNumberGenerator()
    prefix = "\(SharedCluster.uniqueName())."
    connection = try await Connection(kind, brokers: brokers, properties: properties, clientID: prefix)
    log = connection.log
    // A random seed, because tests run in parallel and handlers identify notifications by ID.
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
  /// The embedded cluster, nil if the cluster is a real one.
  nonisolated var embedded: EmbeddedCluster? { connection.embedded }
  nonisolated var losses: BrokerLosses { connection.losses }

  // MARK: - Input

  /// Writes notifications as the ingress does, each about its own subscription.
  @discardableResult
  func receive(_ types: NotificationTypeV2...) async throws -> [NotificationFixture] { try await receive(types) }

  /// Writes notifications together.
  @discardableResult
  func receive(_ types: [NotificationTypeV2]) async throws -> [NotificationFixture] {
    var fixtures = fixtures
    var made: [NotificationFixture] = []
    for type in types { made.append(try await fixtures.next(SampleKind(type), to: input)) }
    self.fixtures = fixtures
    try await write(made.map(\.producerRecord))
    return made
  }

  /// Writes a notification of one megabyte, close to the default size limit of a topic.
  func receiveLarge(_ type: NotificationTypeV2) async throws -> NotificationFixture {
    var fixtures = fixtures
    let made = try await fixtures.next(SampleKind(type), to: input) { draft in
      // Base64 enlarges the payload by a third.
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

  /// Deletes a lane topic, which has records, and creates it again, as soon as the brokers have forgotten the old one.
  /// Until the leader deletes the old topic, it acknowledges records that it then deletes too.
  nonisolated func recreate(_ topic: String) async throws {
    let partitions = (0..<Int32(lanes)).map { TopicPartition(topic: topic, partition: $0) }
    let old = try await log.highWatermarks(of: partitions, timeout: .seconds(30))
    try await connection.deleteTopic(topic)
    while true {
      do {
        try await connection.createTopic(topic, partitions: lanes)
        break
      } catch let error as KafkaError where error.code == .topicAlreadyExists {
        try Task.checkCancellation()
      }
    }
    func isNew(_ partition: TopicPartition, _ offsets: Range<Int64>) -> Bool {
      let end = old[partition]?.upperBound ?? 0
      return end == 0 || offsets.upperBound < end
    }
    while true {
      try Task.checkCancellation()
      do {
        if try await log.highWatermarks(of: partitions, timeout: .seconds(30)).allSatisfy(isNew) { return }
      } catch {
        // The leader does not know the new topic yet. The test's time limit ends the wait.
      }
    }
  }

  /// Sets the offsets of the group as `kafka-consumer-groups --reset-offsets` does. The group must have no members.
  nonisolated func resetOffsets(of wanted: [String], toEarliest: Bool) async throws {
    let reader = try log.makeReader(group: topics.group, topics: wanted, options: LogReaderOptions())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await reader.run() }
      defer { reader.shutDown() }
      for await event in reader.events {
        guard case .assigned(let partitions) = event else { continue }
        let committed = try await reader.committed(partitions.map(\.partition), timeout: .seconds(30))
        try await reader.commit(committed.map { CommittedOffset($0.partition, offset: toEarliest ? 0 : $0.offset) })
        return
      }
    }
  }

  // MARK: - Processes

  /// Starts a process of the worker.
  /// - Parameter instance: The name of the static member and of the producer. Nil for a dynamic member.
  func start(instance: String? = nil, logger: Logger? = nil) async throws -> WorkerInstance {
    var configuration = configuration
    configuration.kafka.instance = instance
    let logger = logger ?? Logger(label: Tally.name) { _ in SwiftLogNoOpLogHandler() }
    return WorkerInstance(
      try await WorkerProcess.runtime(
        Tally.self, configuration, policy, log: log, exchange: NoAppStore(), verifier: fixtures.verifier,
        clock: clock, logger: logger))
  }

  // MARK: - Output

  /// Reads committed records until `isEnough` returns true.
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

  /// Reads the committed records up to the high watermark. Waits while a transaction is open.
  nonisolated func records(in topic: String) async throws -> [ConsumerRecord] {
    let found = Found()
    for partition in try await partitions(of: topic) {
      try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: 1_000) { found.add($0) }
    }
    return found.records
  }

  /// Waits until the group has committed all records of every source. Returns the offsets, with topic names without
  /// prefix, or nil if the task is cancelled.
  nonisolated func committed() async throws -> [TopicPartition: Int64]? {
    let reader = try log.makeReader(group: topics.group, topics: topics.sources, options: LogReaderOptions())
    var sources: [TopicPartition] = []
    for topic in topics.sources { sources += try await partitions(of: topic) }
    // Commits cannot be followed like a topic. Each query is a request, so the brokers set the pace.
    var last: [TopicPartition: Int64]?
    while !Task.isCancelled {
      do {
        let answer = try await reader.committed(sources, timeout: .seconds(30))
        let found = Dictionary(answer.map { ($0.partition, $0.offset) }) { $1 }
        // Reads the ends only if the commits changed, because that needs a new client. Reads them after the commits, so
        // that records appended in between count.
        if found != last, try await isAll(found, of: sources) { return unprefixed(found) }
        last = found
      } catch {
        // Injected broker errors can also affect this reader.
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

  /// Waits until every one of these notifications has an event, and returns all events.
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

/// A process of the worker.
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

  /// Stops the process gracefully, as on SIGTERM.
  func leave() async throws {
    await group.triggerGracefulShutdown()
    try await end()
  }

  /// Waits for the end of the process and returns its error.
  func failure() async -> (any Error)? {
    do { try await end() } catch { return error }
    return nil
  }

  /// Waits for the end of the process, but not longer than the test's time limit.
  private func end() async throws {
    try await withTaskCancellationHandler {
      try await running.value
    } onCancel: {
      running.cancel()
    }
  }

  /// Ends the process without a graceful stop.
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
