// The log interface of workers. Kafka implements it, and so does the in-memory log of the test kit. One conformance
// suite tests both.

public import KafkaClient

/// A partitioned log with consumer groups and transactions.
///
/// Every implementation uses Kafka's types for records, positions and errors. A log creates clients and does not own
/// them: the caller runs each client and shuts it down.
public protocol RecordLog: Sendable {
  /// The identity and capabilities of the log.
  var description: LogDescription { get }

  /// Returns the partition counts of `topics`; missing topics are absent. Creates no topic.
  /// - Throws: ``KafkaError`` if the log did not answer within `timeout`.
  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int]

  /// Returns for each partition the offset of its oldest record and its *high watermark*: the offset after its newest
  /// record, including records of open transactions.
  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>]

  /// Returns for each partition the offset of its first record that is not older than `time`; partitions without one
  /// are absent.
  /// - Throws: ``KafkaError`` with code `unsupported` if ``LogCapabilities/timeLookup`` is missing.
  func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64]

  /// Creates a member of a consumer group with the assignor `range` and the isolation level `read_committed`. Without a
  /// committed offset it starts at the oldest record.
  func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader

  /// Creates an idempotent writer whose records all in-sync replicas acknowledge.
  func makeWriter() throws(KafkaError) -> any LogWriter

  /// Creates a transactional writer.
  /// - Parameters:
  ///   - id: The transactional id. Keep it across restarts, so that a new instance fences the old one.
  ///   - timeout: How long a transaction may stay open before the log aborts it.
  func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter

  /// Calls `body` with the committed records of one partition, in order, in batches of at most `limit`. It neither
  /// reads nor commits offsets of a group.
  ///
  /// - Parameters:
  ///   - start: The first offset to read.
  ///   - end: The end of the scan. The scan returns once every record before it was read or is known to be aborted, and
  ///     waits for open transactions.
  /// - Returns: The next offset, from which a later scan can continue.
  /// - Throws: ``KafkaError``, the error of `body`, or `CancellationError`.
  @discardableResult
  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64

  /// Calls `body` with committed records of several partitions: in order within each partition, concurrently across
  /// partitions. Otherwise like the scan of one partition.
  ///
  /// - Parameters:
  ///   - ranges: The offsets to read from each partition. The scan waits for offsets that are not written yet.
  ///   - filter: Selects records; nil: all. Other records are only counted.
  ///   - limit: The maximum number of records read for one page.
  func scan(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter?, upTo limit: Int,
    _ body: @escaping @Sendable (ScanPage) async throws -> Void
  ) async throws
}

/// Records of one partition, from a scan of several partitions.
public struct ScanPage: Sendable {
  /// The partition.
  public var partition: TopicPartition
  /// The selected records, in order.
  public var records: [ConsumerRecord]
  /// The number of records read, selected or not.
  public var read: Int

  /// Creates a page.
  public init(partition: TopicPartition, records: [ConsumerRecord], read: Int) {
    (self.partition, self.records, self.read) = (partition, records, read)
  }
}

extension RecordLog {
  /// The number of partitions that are read concurrently.
  private static var scanWidth: Int { 8 }

  /// Runs one scan per partition.
  public func scan(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter?, upTo limit: Int,
    _ body: @escaping @Sendable (ScanPage) async throws -> Void
  ) async throws {
    var rest = ranges.sorted { $0.key < $1.key }[...]
    try await withThrowingTaskGroup(of: Void.self) { group in
      func next() {
        guard let (partition, range) = rest.popFirst() else { return }
        group.addTask {
          try await scan(
            partition, from: .offset(range.lowerBound), to: .offset(range.upperBound), upTo: limit
          ) { records in
            let chosen = filter.map { filter in records.filter { filter.matches($0.headers) } } ?? records
            try await body(ScanPage(partition: partition, records: chosen, read: records.count))
          }
        }
      }
      for _ in 0..<Self.scanWidth { next() }
      while try await group.next() != nil { next() }
    }
  }
}

/// The end of a scan.
public enum ScanEnd: Sendable, Hashable {
  /// The partition's end when the scan begins, including open transactions.
  case highWatermark
  /// Before this offset, even if the partition does not reach it yet.
  case offset(Int64)
  /// The scan ends when its task is cancelled.
  case never
}

/// Options of a member of a consumer group.
public struct LogReaderOptions: Sendable, Hashable {
  /// The name of a static member (KIP-345): a restart within the session moves no partition. In a log without
  /// ``LogCapabilities/staticMembership`` the member is dynamic.
  public var instance: String?
  /// Whether a static member leaves the group when it shuts down. Otherwise the group reserves its partitions for the
  /// rest of the session. A dynamic member always leaves.
  public var leavesOnShutDown = false
  /// The number of bytes to prefetch per partition, at least 1 KiB.
  public var prefetchBytes = 1 << 20
  /// How long the group waits for a silent member before it reassigns the partitions; nil: the log's default.
  public var sessionTimeout: Duration?

  /// The defaults.
  public init(instance: String? = nil, leavesOnShutDown: Bool = false) {
    (self.instance, self.leavesOnShutDown) = (instance, leavesOnShutDown)
  }
}

/// The identity and capabilities of a log.
public struct LogDescription: Sendable, Hashable {
  /// The cluster's id, if it has one.
  public var clusterID: String?
  /// The log's capabilities.
  public var capabilities: LogCapabilities

  /// Creates a description.
  public init(clusterID: String?, capabilities: LogCapabilities) {
    self.clusterID = clusterID
    self.capabilities = capabilities
  }
}

/// Optional capabilities of a log. Every log has ordering, groups and headers.
public struct LogCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// One bit per capability.
  public let rawValue: UInt
  /// The capabilities whose bits are set.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Transactions with isolation, offsets and fencing.
  public static let transactions = LogCapabilities(rawValue: 1 << 0)
  /// Lookup of offsets by time.
  public static let timeLookup = LogCapabilities(rawValue: 1 << 1)
  /// Static group members.
  public static let staticMembership = LogCapabilities(rawValue: 1 << 2)
  /// Clients can create and alter topics.
  public static let administration = LogCapabilities(rawValue: 1 << 3)
  /// The log keeps unread data for as long as its retention allows.
  public static let backlog = LogCapabilities(rawValue: 1 << 4)
  /// The log stores a retried write of the idempotent producer once.
  public static let deduplication = LogCapabilities(rawValue: 1 << 5)
  /// A member can still commit while it hands over its partitions. Without this the next owner starts at the offsets
  /// committed earlier.
  public static let handOverCommits = LogCapabilities(rawValue: 1 << 6)

  /// All capabilities: Apache Kafka.
  public static let all: LogCapabilities = [
    .transactions, .timeLookup, .staticMembership, .administration, .backlog, .deduplication, .handOverCommits,
  ]
  /// librdkafka's mock cluster, which accepts more than it does (see ``EmbeddedCluster``).
  public static let embeddedCluster: LogCapabilities = []

  private static let names: [(LogCapabilities, String)] = [
    (.transactions, "transactions"), (.timeLookup, "offsets by time"), (.staticMembership, "static membership"),
    (.administration, "administration"), (.backlog, "unbounded backlog"), (.deduplication, "de-duplication"),
    (.handOverCommits, "commits while handing over"),
  ]

  /// The names of the capabilities, comma-separated.
  public var description: String {
    Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
