// Reads topics without a group: whoever listens disturbs nobody and commits nothing.

public import Kafka

/// Reads all partitions of some topics and hands their records on.
public struct Listener: Sendable {
  /// Where reading starts.
  public enum Start: String, Sendable, Hashable, CaseIterable {
    /// At the oldest record there is.
    case earliest
    /// Behind the newest record there is.
    case latest
  }

  /// What is read, for those who wait for it.
  public struct Reading: Sendable, Hashable {
    /// The topics that exist, sorted.
    public var topics: [String]
    /// Partitions of all of them.
    public var partitions: Int
    /// Topics that were asked for and do not exist, sorted.
    public var missing: [String]

    /// `listening on 10 topics, 120 partitions`
    public var sentence: String {
      "listening on \(HumanText.count(topics.count, "topic")), \(HumanText.count(partitions, "partition"))"
    }
  }

  private let configuration: KafkaConfiguration
  private let topics: [String]
  private let start: Start
  private let timeout: Duration

  /// A listener on `topics`, by their names in Kafka.
  ///
  /// - Parameter timeout: how long one question to the cluster may take.
  public init(_ configuration: KafkaConfiguration, topics: [String], start: Start, timeout: Duration = .seconds(15)) {
    self.configuration = configuration
    self.topics = topics
    self.start = start
    self.timeout = timeout
  }

  /// Reads until `deliver` wants no more or the task is cancelled; both end it without an error.
  ///
  /// - Parameters:
  ///   - onReady: called once, before the first record. From then on no record that is written is missed.
  ///   - onTrouble: hears what librdkafka mends by itself, such as brokers that went away, in one line each.
  ///   - deliver: takes records of one partition in order, of several partitions concurrently; returns whether more are
  ///     wanted.
  /// - Throws: `KafkaError` where the cluster does not answer; ``OperationError`` where none of the topics exists; what
  ///   `deliver` throws.
  public func run(
    onReady: @Sendable (Reading) -> Void, onTrouble: @escaping @Sendable (String) -> Void = { _ in },
    deliver: @escaping @Sendable ([ConsumerRecord]) async throws -> Bool
  ) async throws {
    let access = ClusterAccess(configuration, timeout: timeout)
    let plan = try await access.plan(of: topics)
    guard !plan.partitions.isEmpty else {
      throw OperationError(
        .failed, "no such topic in the cluster", at: topics.joined(separator: ", "),
        remedy: "create the topics with millrace topics apply")
    }
    let starts = try await startOffsets(of: plan.partitions, access)
    let consumer = try KafkaConsumer(
      access.readerConfiguration(plan), subscription: .partitions(starts),
      observer: ClientObserver(error: { onTrouble("\($0)") }))
    let found = Set(plan.partitions.map(\.topic))
    let reading = Reading(
      topics: found.sorted(), partitions: plan.partitions.count, missing: topics.filter { !found.contains($0) }.sorted()
    )
    onReady(reading)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      group.addTask {
        defer { consumer.shutDown() }
        try await Self.drain(consumer, deliver)
      }
      // The first failure has to cancel the other task, so they are awaited one by one.
      for try await _ in group {}
    }
  }

  /// The offsets are asked for now, not when the consumer gets to it: whoever is told that we listen may write at once.
  private func startOffsets(
    of partitions: [TopicPartition], _ access: ClusterAccess
  ) async throws -> [TopicPartition: StartOffset] {
    guard start == .latest else { return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) }) }
    return try await access.watermarks(of: partitions).mapValues { .offset($0.upperBound) }
  }

  private static func drain(
    _ consumer: KafkaConsumer, _ deliver: @escaping @Sendable ([ConsumerRecord]) async throws -> Bool
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { readers in
      for await event in consumer.events {
        switch event {
        case .assigned(let queues):
          for queue in queues { readers.addTask { try await read(queue, of: consumer, deliver) } }
        case .revoked(let revocation): revocation.complete()
        }
      }
      for try await _ in readers {}
    }
  }

  private static func read(
    _ queue: PartitionQueue, of consumer: KafkaConsumer, _ deliver: @Sendable ([ConsumerRecord]) async throws -> Bool
  ) async throws {
    do {
      while true {
        let batch = try await queue.nextBatch(upTo: 100)
        if batch.isEmpty { return }
        if try await !deliver(batch) { break }
      }
      consumer.shutDown()
    } catch {
      // The others wait for records that may never come; closing the consumer lets them end, and the error through.
      consumer.shutDown()
      throw error
    }
  }
}
