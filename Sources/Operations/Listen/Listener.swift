// Reads topics without a consumer group, so it commits nothing and disturbs no other consumer.

internal import AppStore
package import KafkaClient
internal import MillraceRecords
package import MillraceTime

/// Reads all partitions of some topics and delivers their records.
package struct Listener: Sendable {
  /// The topics and partitions that are being read.
  package struct Reading: Sendable, Hashable {
    /// The existing topics, sorted.
    package var topics: [String]
    /// The number of partitions of these topics.
    package var partitions: Int
    /// The requested topics that do not exist, sorted.
    package var missing: [String]

    /// `listening on 10 topics, 120 partitions`
    package var sentence: String {
      "listening on \(HumanText.count(topics.count, "topic")), \(HumanText.count(partitions, "partition"))"
    }
  }

  private let configuration: KafkaConfiguration
  private let topics: [String]
  private let start: StartArgument
  /// The earliest time of the records to deliver; nil: any.
  private let since: Timestamp?
  private let clock: MillraceClock
  private let timeout: Duration

  /// Creates a listener on `topics`, given by their names in Kafka.
  ///
  /// - Parameters:
  ///   - clock: The clock of the records' times.
  ///   - timeout: The time limit of one request to the cluster.
  package init(
    _ configuration: KafkaConfiguration, topics: [String], start: StartArgument, clock: MillraceClock = .system,
    timeout: Duration = .seconds(15)
  ) {
    self.configuration = configuration
    self.topics = topics
    self.start = start
    self.clock = clock
    since = if case .time(let time) = start { time.time(at: clock.wallTime) } else { nil }
    self.timeout = timeout
  }

  /// Reads until `deliver` returns false or the task is cancelled. Both end without an error.
  ///
  /// - Parameters:
  ///   - onReady: Called once, before the first record. No record written after this call is missed.
  ///   - onTrouble: Receives one line for each problem that librdkafka recovers from, such as a lost broker.
  ///   - deliver: Receives records, in order within a partition and concurrently across partitions. Returns whether
  ///     to continue.
  /// - Throws: `KafkaError` if the cluster does not answer; ``OperationError`` if none of the topics exists; the error
  ///   of `deliver`.
  package func run(
    onReady: @Sendable (Reading) -> Void, onTrouble: @escaping @Sendable (String) -> Void = { _ in },
    deliver: @escaping @Sendable ([ConsumerRecord]) async throws -> Bool
  ) async throws {
    let access = ClusterAccess(configuration, timeout: timeout)
    let plan = try await access.plan(of: topics)
    guard !plan.partitions.isEmpty else {
      throw OperationError.missing(
        topics.joined(separator: ", "), remedy: "create the topics with millrace topics apply")
    }
    let starts = try await startOffsets(of: plan, access)
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
        try await Self.drain(consumer) { records in
          let wanted = records.filter { record in
            since.map { (record.time(by: clock) ?? $0) >= $0 } ?? true
          }
          guard !wanted.isEmpty else { return true }
          return try await deliver(wanted)
        }
      }
      // Awaited one by one, because the first failure has to cancel the other task.
      for try await _ in group {}
    }
  }

  /// Resolves the offsets before `onReady`, so records written after that call are read even if the consumer starts
  /// later.
  private func startOffsets(
    of plan: ClusterAccess.Plan, _ access: ClusterAccess
  ) async throws -> [TopicPartition: StartOffset] {
    // Kafka's index knows only real time, and the embedded cluster has none.
    let canLookUp = since != nil && !plan.isEmbedded && !clock.isSimulated
    guard start == .latest || canLookUp else {
      return Dictionary(uniqueKeysWithValues: plan.partitions.map { ($0, .earliest) })
    }
    let ends = try await access.watermarks(of: plan.partitions).mapValues { StartOffset.offset($0.upperBound) }
    guard let since, canLookUp else { return ends }
    // A partition without an offset for the time has no records since then.
    return try await access.offsets(of: plan.partitions, since: since).mapValues { .offset($0) }
      .merging(ends) { found, _ in found }
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
      // The other tasks may wait forever for records. Closing the consumer ends them, so this error can be thrown.
      consumer.shutDown()
      throw error
    }
  }
}
