// A log for tests that keeps Kafka's promises, runs in microseconds, and has a manual clock and faults on demand.

public import MillraceTime
public import KafkaClient
public import MillraceRecords

/// A log in memory that keeps Kafka's promises: partitions and offsets, groups and generations, transactions, isolation
/// and fencing.
///
/// A value of this type is the log as one process sees it; ``process(_:)`` returns the view of another process. Clients
/// belong to the process that created them. ``pause()`` and ``crash()`` affect all clients of a process at once.
/// Timeouts follow the log's clock, so a test with a manual clock never waits for them.
///
/// ```swift
/// let time = ManualClock()
/// let log = InMemoryLog(clock: time.clock)
/// try log.createTopic("t", partitions: 3)
/// try log.append(ProducerRecord(topic: "t", key: Array("k".utf8), value: [1]))
/// ```
public struct InMemoryLog: RecordLog {
  /// Settings that most tests do not change.
  public struct Settings: Sendable {
    /// How long a silent member keeps its partitions.
    public var sessionTimeout = Duration.seconds(10)
    /// How long a group waits for a member to hand over its partitions.
    public var rebalanceTimeout = Duration.seconds(300)
    /// The maximum size of key and value together, in bytes.
    public var maximumRecordBytes = 4 << 20
    /// The value of ``LogDescription/clusterID``.
    public var clusterID = "in-memory"

    /// Creates settings with the defaults of Kafka and of Millrace's topics.
    public init() {}
  }

  let host: BrokerHost
  let processID: ProcessID
  /// The description of the log. It has all capabilities of Kafka.
  public let description: LogDescription

  /// Creates an empty log, seen by a process named `main`.
  public init(clock: MillraceClock, settings: Settings = Settings()) {
    let limits = InMemoryBroker.Limits(
      sessionTimeout: settings.sessionTimeout, rebalanceTimeout: settings.rebalanceTimeout,
      maximumRecordBytes: settings.maximumRecordBytes)
    self.init(
      host: BrokerHost(limits: limits, clock: clock), name: "main",
      description: LogDescription(clusterID: settings.clusterID, capabilities: .all))
  }

  private init(host: BrokerHost, name: String, description: LogDescription) {
    self.host = host
    self.description = description
    processID = host.update { broker, _ in broker.startProcess(name) }
  }

  /// Returns the same log as another process sees it. After a crash, the same name is a new process.
  public func process(_ name: String) -> InMemoryLog {
    InMemoryLog(host: host, name: name, description: description)
  }

  // MARK: - Topics and questions

  /// Creates a topic.
  /// - Throws: ``KafkaError`` if the topic exists, or if `partitions` is below 1.
  public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
    try host.update { broker, now throws(KafkaError) in
      guard broker.topics[name] == nil, partitions > 0 else {
        throw KafkaError(
          code: .invalidConfiguration, operation: "create \(name)",
          reason: partitions > 0 ? "the topic exists" : "a topic has at least one partition")
      }
      broker.createTopic(name, partitions: partitions, now: now)
    }
  }

  /// Returns the partition counts of the topics that exist.
  public func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    await host.delay()
    return host.update { broker, _ in broker.counts.filter { topics.contains($0.key) } }
  }

  /// Returns the oldest offset and the high watermark of each partition.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    await host.delay()
    return try host.update { broker, _ throws(KafkaError) in
      var found: [TopicPartition: Range<Int64>] = [:]
      for partition in partitions {
        let store = try broker.partition(partition, "read watermarks of \(partition)")
        found[partition] = store.start..<store.end
      }
      return found
    }
  }

  /// Returns the first offset of each partition whose record has this timestamp or a later one.
  public func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    await host.delay()
    return try host.update { broker, _ throws(KafkaError) in
      var found: [TopicPartition: Int64] = [:]
      for partition in partitions {
        found[partition] = try broker.partition(partition, "look up offsets by time of \(partition)").offset(
          since: time)
      }
      return found
    }
  }

  // MARK: - Clients

  /// Creates a reader, which is a member of a group.
  public func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    InMemoryReader(
      host: host, process: processID, group: group, topics: Set(topics), options: options)
  }

  /// Creates a writer.
  public func makeWriter() throws(KafkaError) -> any LogWriter { InMemoryWriter(host: host, process: processID) }

  /// Creates a transactional writer.
  public func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    guard !id.isEmpty else {
      throw KafkaError(
        code: .invalidConfiguration, operation: "make a transactional writer", reason: "the transactional id is empty")
    }
    return InMemoryTransactionalWriter(host: host, process: processID, id: id, transactionTimeout: timeout)
  }

  /// Reads a partition without a group.
  @discardableResult
  public func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    let operation = "scan \(partition)"
    var (position, target) = try host.update { broker, _ throws(KafkaError) in
      let store = try broker.partition(partition, operation)
      let first: Int64 =
        switch start {
        case .earliest: store.start
        case .latest: end == .highWatermark ? store.end : store.lastStableOffset
        case .offset(let offset): offset
        }
      let target: Int64 =
        switch end {
        case .highWatermark: store.end
        case .offset(let offset): offset
        case .never: .max
        }
      return (first, target)
    }
    while position < target {
      let from = position
      let process = processID
      let page = try await host.answer {
        broker, _ throws(KafkaError) -> Answer<(records: [ConsumerRecord], next: Int64)> in
        if let wait = try broker.obstacle(for: process, operation) { return .after(wait) }
        let store = try broker.partition(partition, operation)
        guard (store.start...store.end).contains(from) else {
          throw KafkaError(
            code: .noOffsetReset, operation: operation,
            reason: "offset \(from) is not between \(store.start) and \(store.end)")
        }
        let page = store.read(from: from, limit: max(1, limit))
        return page.next > from ? .now(page) : .after(.partition(partition))
      }
      guard let page else { throw CancellationError() }
      let records = page.records.filter { $0.offset < target }
      position = min(page.next, target)
      if !records.isEmpty { try await body(records) }
    }
    return position
  }
}
