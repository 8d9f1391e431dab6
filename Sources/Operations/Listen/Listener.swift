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
    let log = try await KafkaLog.reader(
      configuration, timeout: timeout, observer: ClientObserver(error: { onTrouble("\($0)") }))
    let partitions = try await log.partitions(of: topics, timeout: timeout)
    guard !partitions.isEmpty else {
      throw OperationError.missing(
        topics.joined(separator: ", "), remedy: "create the topics with millrace topics apply")
    }
    // Resolved before `onReady`, so records written after that call are read even if the client starts later.
    let starts = try await startOffsets(of: partitions, log)
    let found = Set(partitions.map(\.topic))
    onReady(
      Reading(
        topics: found.sorted(), partitions: partitions.count, missing: topics.filter { !found.contains($0) }.sorted()))
    struct Enough: Error {}
    do {
      try await log.follow(starts, upTo: 100) { _, page in
        let wanted = page.records.filter { record in since.map { (record.time(by: clock) ?? $0) >= $0 } ?? true }
        if !wanted.isEmpty, try await !deliver(wanted) { throw Enough() }
        return true
      }
    } catch is Enough {
      // `deliver` has all that it wants.
    } catch is CancellationError where Task.isCancelled {
      // The caller has all that it wants.
    }
  }

  private func startOffsets(
    of partitions: [TopicPartition], _ log: KafkaLog
  ) async throws -> [TopicPartition: StartOffset] {
    // Kafka's index knows only real time, and the embedded cluster has none.
    let canLookUp = since != nil && log.description.capabilities.contains(.timeLookup) && !clock.isSimulated
    guard start == .latest || canLookUp else {
      return Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })
    }
    let ends = try await log.highWatermarks(of: partitions, timeout: timeout)
      .mapValues { StartOffset.offset($0.upperBound) }
    guard let since, canLookUp else { return ends }
    // A partition without an offset for the time has no records since then.
    return try await log.offsets(of: partitions, since: since.millisecondsSince1970, timeout: timeout)
      .mapValues { .offset($0) }.merging(ends) { found, _ in found }
  }
}
