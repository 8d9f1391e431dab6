// The log that workers stand on, as far as they see it. Kafka is one; the test kit's log in memory is another, and one
// conformance suite holds both to the same promises.

public import Kafka

/// A partitioned log with consumer groups and transactions.
///
/// Records, positions and errors are Kafka's own whatever the log is. A log makes clients and owns none of them: whoever
/// makes one runs it and shuts it down.
public protocol RecordLog: Sendable {
  /// Which log this is and what it can do.
  var description: LogDescription { get }

  /// The partition counts of the topics among `topics` that exist; the others are absent. Creates none.
  /// - Throws: ``KafkaError`` where the log did not answer within `timeout`.
  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int]

  /// For each partition the offset of its oldest record, and the one behind its newest: the *high watermark*, which also
  /// counts records whose transaction is still open.
  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>]

  /// For each partition the offset of its first record that is not older than `time`; partitions without one are absent.
  /// - Throws: ``KafkaError`` with code `unsupported` where ``LogCapabilities/timeLookup`` is missing.
  func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64]

  /// A member of a consumer group: reads what the group's other members do not. Assignor `range`, isolation
  /// `read_committed`; without a committed offset it starts at the oldest record.
  func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader

  /// A writer whose records are acknowledged by all in-sync replicas and written once despite its own retries.
  func makeWriter() throws(KafkaError) -> any LogWriter

  /// A writer of transactions.
  /// - Parameters:
  ///   - id: The transactional id. The same after a restart, so that the new instance fences the old one.
  ///   - timeout: How long a transaction may stay open before the log aborts it.
  func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter

  /// Hands the committed records of one partition to `body`, in order, in batches of at most `limit`. Nobody's offsets
  /// are read or written.
  ///
  /// - Parameters:
  ///   - start: Where it begins.
  ///   - end: Where it ends. It returns once everything before is read or known to be aborted: records whose
  ///     transaction is open when it comes to them are waited for.
  /// - Returns: The offset behind what was read, where a later scan goes on.
  /// - Throws: ``KafkaError``, what `body` throws, or `CancellationError`.
  @discardableResult
  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64

  /// Hands committed records of several partitions to `body`, those of each partition in order, those of different
  /// partitions side by side. Otherwise as the scan of one.
  ///
  /// - Parameters:
  ///   - ranges: What is read of each; an end beyond the partition's own is waited for.
  ///   - filter: Which records are wanted; nil: all. The others are counted.
  ///   - limit: How many records are looked at for one page, at most.
  func scan(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter?, upTo limit: Int,
    _ body: @escaping @Sendable (ScanPage) async throws -> Void
  ) async throws
}

/// What a scan of several partitions found in one of them.
public struct ScanPage: Sendable {
  /// The partition.
  public var partition: TopicPartition
  /// What was wanted of it, in order.
  public var records: [ConsumerRecord]
  /// How many records were looked at.
  public var read: Int

  /// A page.
  public init(partition: TopicPartition, records: [ConsumerRecord], read: Int) {
    (self.partition, self.records, self.read) = (partition, records, read)
  }
}

extension RecordLog {
  /// Partitions that are read side by side.
  private static var scanWidth: Int { 8 }

  /// One scan for each partition.
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

/// Where a scan ends.
public enum ScanEnd: Sendable, Hashable {
  /// What the partition holds when the scan begins, open transactions included.
  case highWatermark
  /// Before this offset, also where the partition is shorter yet.
  case offset(Int64)
  /// With its task.
  case never
}

/// How a member of a group reads.
public struct LogReaderOptions: Sendable, Hashable {
  /// Makes it a static member of this name (KIP-345): a restart within the session disturbs nobody. For fixed replicas
  /// only: a static member does not leave the group when it shuts down.
  public var instance: String?
  /// How many bytes are fetched ahead for each partition. At least 1 KiB.
  public var prefetchBytes = 1 << 20
  /// How long the group waits for a member that is silent, before it gives its partitions away; nil: the log's default.
  public var sessionTimeout: Duration?

  /// The defaults.
  public init(instance: String? = nil) { self.instance = instance }
}

/// Which log it is.
public struct LogDescription: Sendable, Hashable {
  /// The cluster's id, where it tells one.
  public var clusterID: String?
  /// What it can do.
  public var capabilities: LogCapabilities

  /// Describes a log.
  public init(clusterID: String?, capabilities: LogCapabilities) {
    self.clusterID = clusterID
    self.capabilities = capabilities
  }
}

/// What a log can do beyond ordering, groups and headers, which every one does.
public struct LogCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
  /// One bit for each.
  public let rawValue: UInt
  /// The capabilities whose bits are set.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Transactions that isolate, carry offsets and fence.
  public static let transactions = LogCapabilities(rawValue: 1 << 0)
  /// Offsets by time.
  public static let timeLookup = LogCapabilities(rawValue: 1 << 1)
  /// Static members of groups.
  public static let staticMembership = LogCapabilities(rawValue: 1 << 2)
  /// Topics can be created and altered by clients.
  public static let administration = LogCapabilities(rawValue: 1 << 3)
  /// Keeps as much unread data as its retention says.
  public static let backlog = LogCapabilities(rawValue: 1 << 4)
  /// A retried write of the idempotent producer is stored once.
  public static let deduplication = LogCapabilities(rawValue: 1 << 5)
  /// A member that hands its partitions over can still commit what it did. Where it cannot, the successor starts at what
  /// was committed before.
  public static let handOverCommits = LogCapabilities(rawValue: 1 << 6)

  /// All of them: Apache Kafka.
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

  /// Names, comma separated.
  public var description: String {
    Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
