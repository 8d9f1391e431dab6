// Looks for open transactions at which readers wait. A reader with `read_committed` stops at the first record of an open
// transaction. Its lag in seconds stays 0, because it has no unfinished record.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceTime

/// A transaction that is open in a partition.
struct OpenTransaction: Sendable, Hashable {
  /// The time limit of a worker's transaction, with the brokers' interval for ending transactions that exceed theirs.
  /// A transaction that is open for longer belongs to another program, or the brokers have forgotten it.
  static let workersLimit = Duration.seconds(30)

  var partition: TopicPartition
  /// The offset of its first record: the last stable offset.
  var offset: Int64
  /// The high watermark.
  var end: Int64
  /// When its first record was written; nil if that is unknown.
  var begun: Timestamp?
  /// The program that wrote the first record, as far as headers say.
  var producer: String?

  /// Sets ``begun`` and ``producer`` from the first record.
  /// - Parameter prefix: The prefix of the deployment's topics.
  mutating func describe(by record: ConsumerRecord, prefix: String) {
    begun = record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
    let name = record.topic.dropFirst(record.topic.hasPrefix(prefix) ? prefix.utf8.count : 0).split(separator: ".")
    if name.count > 2, name[0] == "millrace" {
      // Only the worker of these topics writes to them.
      producer = "the worker \(name[1])"
    } else if let source = record.headers.last(where: { $0.name == "ce_source" })?.value {
      let source = String(decoding: source, as: UTF8.self)
      producer =
        source.hasPrefix("millrace/") ? "the worker \(source.dropFirst("millrace/".count))" : "the program \(source)"
    }
  }

  /// - Parameter bootstrapServers: The cluster, for the commands that show and end the transaction.
  func finding(at now: Timestamp, bootstrapServers: String) -> DoctorFinding {
    let age = begun.map { max(0, (now - $0).components.seconds) }
    let time = age.map { DurationText.text(.seconds($0 < 120 ? $0 : $0 / 60 * 60)) } ?? "an unknown time"
    let writer =
      producer ?? (begun == nil ? "a program whose record cannot be read" : "a program that no header names")
    let script = "kafka-transactions.sh --bootstrap-server \(bootstrapServers)"
    let place = "--topic \(partition.topic) --partition \(partition.partition)"
    return DoctorFinding(
      .transactions, age.map { Duration.seconds($0) < Self.workersLimit } == true ? .warning : .failure,
      "a transaction of \(writer) has been open for \(time): readers wait at offset \(offset), and the topic ends at \(end)",
      of: "\(partition)",
      remedy: "end that program; `\(script) describe-producers \(place)` shows its producer. If the program is gone: "
        + "`\(script) abort \(place) --start-offset \(offset)`")
  }
}

/// Looks for open transactions in a cluster.
struct TransactionChecks: Sendable {
  let kafka: KafkaConfiguration
  let prefix: String
  let clock: MillraceClock
  let timeout: Duration

  /// The shortest time for which a transaction is open before it is reported.
  static let patience = Duration.seconds(3)

  /// Looks at all partitions of topics.
  func findings(_ topics: [(name: String, partitions: Int)]) async -> [DoctorFinding] {
    do {
      let open = try await open(in: topics)
      guard !open.isEmpty else { return [DoctorFinding(.transactions, .good, "no reader waits for a transaction")] }
      let now = clock.wallTime
      return open.map { $0.finding(at: now, bootstrapServers: kafka.bootstrapServers) }
    } catch {
      return [DoctorFinding(.transactions, error)]
    }
  }

  private func open(in topics: [(name: String, partitions: Int)]) async throws -> [OpenTransaction] {
    let partitions = topics.flatMap { topic in
      (0..<Int32(clamping: topic.partitions)).map { TopicPartition(topic: topic.name, partition: $0) }
    }
    guard !partitions.isEmpty else { return [] }
    let first = try await blocked(partitions)
    guard !first.isEmpty else { return [] }
    // Most transactions end within milliseconds.
    try await clock.sleep(until: clock.now.advanced(by: Self.patience))
    let second = try await blocked(first.map(\.partition))
    var open = second.filter { later in first.contains { ($0.partition, $0.offset) == (later.partition, later.offset) }
    }
    for index in open.indices {
      do {
        if let record = try await firstRecord(of: open[index]) { open[index].describe(by: record, prefix: prefix) }
      } catch is KafkaError {
        // This user may not read the topic. The finding says that the record cannot be read.
      }
    }
    return open
  }

  /// Returns the partitions whose last stable offset is before their high watermark.
  private func blocked(_ partitions: [TopicPartition]) async throws -> [OpenTransaction] {
    // The high watermarks first: what is written in between must not look like an open transaction.
    let ends = try await KafkaAdmin(kafka).highWatermarks(of: partitions, timeout: timeout)
    let stable = try await KafkaConsumer(kafka, subscription: .partitions([:]))
      .watermarks(of: Set(partitions), timeout: timeout)
    return partitions.compactMap { partition in
      guard let end = ends[partition]?.upperBound, let offset = stable[partition]?.upperBound, offset < end else {
        return nil
      }
      return OpenTransaction(partition: partition, offset: offset, end: end)
    }
  }

  /// Reads the first record of a transaction; nil if it cannot be read, or the transaction has ended.
  private func firstRecord(of transaction: OpenTransaction) async throws -> ConsumerRecord? {
    let consumer = try KafkaConsumer(
      readingUncommitted: kafka, from: [transaction.partition: .offset(transaction.offset)])
    return try await clock.result(within: timeout) {
      try await withThrowingTaskGroup(of: Void.self, returning: ConsumerRecord?.self) { group in
        group.addTask { try await consumer.run() }
        defer {
          consumer.shutDown()
          group.cancelAll()
        }
        for await event in consumer.events {
          guard case .assigned(let queues) = event, let queue = queues.first else { continue }
          return try await queue.nextPage(upTo: 1, choosing: nil)?.records.first { $0.offset == transaction.offset }
        }
        return nil
      }
    } ?? nil
  }
}
