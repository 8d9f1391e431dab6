// The service that writes topics to tables. The consumer group only decides which process reads which partitions. The
// database knows where each continues, and moves that position in the transaction that writes the rows, so a process that
// lost its partitions without knowing cannot write anything.

package import KafkaClient
package import Logging
package import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import ServiceLifecycle
internal import Synchronization

/// Reads the topics of the configured tables as a member of a consumer group, and writes their records.
package struct PostgresWriter: Service {
  private let settings: PostgresSettings
  private let kafka: KafkaConfiguration
  private let prefix: String
  private let cluster: String
  /// The definition of each topic's table, by the topic's full name.
  private let tables: [String: TableDefinition]
  private let metrics: PostgresMetrics
  private let status: WriterStatus
  private let logger: Logger

  private static let timeout = Duration.seconds(30)

  /// Creates the service. It looks for the topics, so the cluster has to be reachable.
  /// - Throws: ``MillraceError`` if a topic is missing; ``KafkaError``.
  package init(
    _ configuration: MillraceConfiguration, kafka: KafkaConfiguration, metrics: PostgresMetrics,
    status: WriterStatus, logger: Logger
  ) async throws {
    settings = configuration.postgres
    prefix = configuration.topics.prefix
    (self.metrics, self.status, self.logger) = (metrics, status, logger)
    var kafka = kafka
    // The position at which a reader starts is always known, so reading without one is an error. Ends are needed for the
    // lag: a transaction's marker has an offset, too.
    kafka.properties["enable.partition.eof"] = "true"
    self.kafka = kafka
    let admin = KafkaAdmin(kafka)
    cluster = try await admin.describeCluster(timeout: Self.timeout).clusterID ?? ""
    let wanted = Self.topics(of: configuration)
    let existing = Set(
      try await admin.describeTopics(Array(wanted.keys), withSettings: false, timeout: Self.timeout).map(\.name))
    for (topic, definition) in wanted.sorted(by: { $0.key < $1.key }) where !existing.contains(topic) {
      guard definition.table != .events else {
        logger.notice(
          "a worker has no topic of events yet; restart this process once it has", metadata: ["topic": "\(topic)"])
        continue
      }
      throw MillraceError(
        .topics, "the topic of the table \(definition.table.rawValue) does not exist", at: topic,
        remedy: "run millrace topics apply, or remove the table from postgres.tables")
    }
    tables = wanted.filter { existing.contains($0.key) }
  }

  /// The topics of the configured tables, by full name.
  static func topics(of configuration: MillraceConfiguration) -> [String: TableDefinition] {
    let prefix = configuration.topics.prefix
    var topics: [String: TableDefinition] = [:]
    for definition in configuration.postgres.tables.map(TableDefinition.of) {
      if let topic = definition.topic {
        topics[prefix + topic] = definition
      } else {
        for worker in configuration.workers.keys { topics["\(prefix)appstore.events.\(worker)"] = definition }
      }
    }
    return topics
  }

  /// Writes until the process shuts down.
  /// - Throws: ``MillraceError`` for a problem that needs an operator; ``KafkaError`` that ended a client.
  package func run() async throws {
    let member = try KafkaConsumer(
      kafka.asMember, subscription: .group(prefix + PostgresSettings.group, topics: tables.keys.sorted()),
      observer: .reporting(client: "group", to: logger))
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await member.run() }
        group.addTask { try await serve(member) }
        defer { group.cancelAll() }
        // Both end when the member has left the group.
        while try await group.next() != nil {}
      }
    } onGracefulShutdown: {
      member.shutDown()
    }
  }

  /// Writes the partitions of each assignment until it is revoked.
  /// - Throws: The error of a writer, after the member has left the group.
  private func serve(_ member: KafkaConsumer) async throws {
    var assignment: Task<Void, any Error>?
    var failure: (any Error)?
    for await event in member.events {
      switch event {
      case .assigned(let queues):
        let partitions = queues.map(\.partition)
        logger.info("assigned", metadata: ["partitions": "\(partitions.count)"])
        assignment = Task {
          do { try await write(partitions, as: member) } catch {
            member.shutDown()
            throw error
          }
        }
      case .revoked(let revocation):
        // A transaction that has begun is finished first.
        assignment?.cancel()
        if case .failure(let error)? = await assignment?.result { failure = error }
        assignment = nil
        revocation.complete()
      }
    }
    assignment?.cancel()
    if case .failure(let error)? = await assignment?.result { failure = error }
    if let failure { throw failure }
  }

  /// Writes partitions until the task is cancelled. After a failure it begins again at the positions of the database.
  private func write(_ partitions: [TopicPartition], as member: KafkaConsumer) async throws {
    status.assigned(partitions)
    guard !partitions.isEmpty else { return }
    let positions = Positions()
    defer { for topic in Set(partitions.map(\.topic)) { lag(of: topic, 0) } }
    // Also while the database is down: that is when the lag grows. It ends with this function.
    async let _: Void = measureLag(positions)
    try await writeAgain(partitions, as: member, positions)
  }

  private func writeAgain(
    _ partitions: [TopicPartition], as member: KafkaConsumer, _ positions: Positions
  ) async throws {
    let backoff = Mutex(Backoff(from: .milliseconds(100), upTo: .seconds(10)))
    while !Task.isCancelled {
      do {
        try await session(partitions, as: member, positions, whenWritten: { backoff.withLock { $0.reset() } })
      } catch let error as PostgresError where error.isTemporary {
        guard !Task.isCancelled else { break }
        metrics.failed(error)
        status.failed(error)
        logger.log(
          level: error.code == PostgresError.fenced ? .notice : .warning,
          "beginning again at the positions of the database",
          metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
        try? await Task.sleep(for: backoff.withLock { $0.next() })
      } catch let error as KafkaError where error.isRetriable || error.code == .timedOut {
        guard !Task.isCancelled else { break }
        logger.warning("cannot read", metadata: ["error": "\(error)"])
        try? await Task.sleep(for: backoff.withLock { $0.next() })
      } catch let error as PostgresError {
        guard !Task.isCancelled else { break }
        metrics.failed(error)
        throw MillraceError(.unavailable, "\(error)", at: "postgres", remedy: error.remedy)
      } catch is CancellationError {
        break
      }
    }
  }

  /// Connects, reads the partitions from the database's positions on, and writes them.
  private func session(
    _ partitions: [TopicPartition], as member: KafkaConsumer, _ positions: Positions,
    whenWritten: @escaping @Sendable () -> Void
  ) async throws {
    let connection = try await PostgresConnection.open(settings, application: "millrace-postgres")
    let writer = try await TableWriter(connection, settings, cluster: cluster)
    let starts = try await starts(of: partitions, writer)
    metrics.isConnected(true)
    defer { metrics.isConnected(false) }
    status.connected()
    let reader = try KafkaConsumer(
      kafka.buffering(partitions.count), subscription: .partitions(starts.mapValues { .offset($0) }),
      observer: .reporting(client: "reader", to: logger))
    let pages = PageQueue()
    for (partition, offset) in starts { positions.move(partition, to: offset) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer {
        pages.close()
        group.cancelAll()
      }
      group.addTask { try await reader.run() }
      group.addTask {
        for await event in reader.events {
          guard case .assigned(let queues) = event else { continue }
          try await withThrowingTaskGroup(of: Void.self) { readers in
            for queue in queues {
              readers.addTask { try await read(queue, from: starts[queue.partition] ?? 0, into: pages) }
            }
            try await readers.waitForAll()
          }
        }
      }
      group.addTask { try await write(pages, writer, positions, member, whenWritten) }
      try await group.next()
    }
  }

  private func read(
    _ queue: PartitionQueue, from start: Int64, into pages: PageQueue
  ) async throws {
    guard let definition = tables[queue.partition.topic] else { return }
    let encoder = RowEncoder(definition)
    var next = start
    let limit = max(1, min(2_000, settings.batchRows))
    while let page = try await nextPage(of: queue, limit, at: next) {
      var records = page.records.drop { $0.offset < next }
      // The end of a partition can lie after its last record, because the marker of a transaction has an offset, too.
      let end = max(page.end ?? 0, (records.last?.offset).map { $0 + 1 } ?? next)
      while end > next {
        let encoded = EncodedPage(records, of: queue.partition, from: next, to: end, as: encoder, definition)
        records = records.dropFirst(encoded.count)
        next = encoded.end
        guard await pages.put(encoded) else { return }
      }
    }
  }

  private func nextPage(of queue: PartitionQueue, _ limit: Int, at next: Int64) async throws -> PartitionPage? {
    do throws(KafkaError) { return try await queue.nextPage(upTo: limit, choosing: nil) } catch {
      guard error.code == .noOffsetReset else { throw error }
      throw gap(queue.partition, at: next, in: nil)
    }
  }

  private func write(
    _ pages: PageQueue, _ writer: TableWriter, _ positions: Positions, _ member: KafkaConsumer,
    _ whenWritten: @Sendable () -> Void
  ) async throws {
    while true {
      let batch = await pages.take(upTo: settings.batchRows)
      guard !batch.isEmpty else { return }
      let begin = ContinuousClock.now
      status.began(at: Dictionary(batch.map { ($0.partition, $0.start) }, uniquingKeysWith: min))
      try await writer.write(batch)
      let isWell = status.wrote(to: Dictionary(batch.map { ($0.partition, $0.end) }, uniquingKeysWith: max))
      metrics.wrote(batch, in: ContinuousClock.now - begin)
      for page in batch where !page.rejected.isEmpty {
        logger.warning(
          "records that are not rows are in the table rejected",
          metadata: ["topic": "\(page.partition.topic)", "count": "\(page.rejected.count)"])
      }
      for page in batch { positions.move(page.partition, to: page.end) }
      if isWell { whenWritten() }
      // Only for tools that show the group's lag. The database decides where reading continues.
      try? await member.commit(batch.map { CommittedOffset($0.partition, offset: $0.end) })
    }
  }

  // MARK: - Positions

  /// Returns where each partition continues.
  /// - Throws: ``MillraceError`` if records were deleted before they were written, or the topic was created again.
  private func starts(
    of partitions: [TopicPartition], _ writer: TableWriter
  ) async throws -> [TopicPartition: Int64] {
    // The positions first: another process may still move them, and its records are then within the ranges.
    var positions = try await writer.positions(partitions)
    var ranges = try await lookUpRanges(of: partitions)
    // A former leader answers with an old end until it learns that it is no longer the leader.
    for _ in 0..<5 where positions.contains(where: { $0.value > ranges[$0.key]?.upperBound ?? $0.value }) {
      try await Task.sleep(for: .seconds(1))
      ranges = try await lookUpRanges(of: partitions)
    }
    let known = positions
    var first: [TopicPartition: Int64] = [:]
    for partition in partitions where positions[partition] == nil {
      first[partition] = ranges[partition]?.lowerBound ?? 0
    }
    if !first.isEmpty {
      try await writer.begin(first)
      positions = try await writer.positions(partitions)
    }
    for (partition, next) in known.sorted(by: { $0.key < $1.key }) {
      guard let range = ranges[partition], next < range.lowerBound || next > range.upperBound else { continue }
      throw gap(partition, at: next, in: range)
    }
    return positions
  }

  /// - Parameter range: The range of the partition, nil if it is not known.
  private func gap(_ partition: TopicPartition, at next: Int64, in range: Range<Int64>?) -> MillraceError {
    let topic = "cluster =\(TableWriter.literal(cluster)) AND topic =\(TableWriter.literal(partition.topic))"
    guard let range else {
      return MillraceError(
        .topics, "records from offset \(next) on were deleted before they were written", at: "\(partition)",
        remedy: "start the process again; it then says where the topic begins, and how to accept the gap")
    }
    guard next > range.upperBound else {
      return MillraceError(
        .topics,
        "records from offset \(next) on were deleted before they were written; the topic now begins at "
          + "\(range.lowerBound)",
        at: "\(partition)",
        remedy: "replay them, then accept the gap: UPDATE \(settings.schema).positions SET next = \(range.lowerBound) "
          + "WHERE \(topic) AND \"partition\" = \(partition.partition)")
    }
    return MillraceError(
      .topics,
      "the database continues at offset \(next), but the topic ends at \(range.upperBound): it was created again",
      at: "\(partition)",
      remedy: "if its old rows may stay, DELETE FROM \(settings.schema).positions WHERE \(topic)")
  }

  /// Returns the oldest offset and the high watermark of each partition.
  ///
  /// librdkafka cannot interrupt a look-up, and a rebalance must not wait for one. So each has a client and a thread of its
  /// own, and is abandoned if the task is cancelled.
  private func lookUpRanges(of partitions: [TopicPartition]) async throws -> [TopicPartition: Range<Int64>] {
    let found = try await MillraceClock.system.result(within: Self.timeout) { [kafka] in
      try await KafkaAdmin(kafka).highWatermarks(of: partitions, timeout: Self.timeout)
    }
    guard let found else {
      throw KafkaError(
        code: .timedOut, operation: "look up the ends of partitions", reason: "no answer within \(Self.timeout)")
    }
    return found
  }

  private func lag(of topic: String, _ records: Int64) {
    metrics.lag(of: topic, records)
    status.lag(of: topic, records)
  }

  private func measureLag(_ positions: Positions) async {
    while !Task.isCancelled {
      let current = positions.all
      if let ranges = try? await lookUpRanges(of: Array(current.keys)) {
        var lags: [String: Int64] = [:]
        for (partition, next) in current {
          lags[partition.topic, default: 0] += max(0, (ranges[partition]?.upperBound ?? next) - next)
        }
        for (topic, records) in lags { lag(of: topic, records) }
      }
      // Cancellation ends the wait and the loop.
      try? await Task.sleep(for: .seconds(10))
    }
  }
}

/// How far each partition has been written, for the lag.
private final class Positions: Sendable {
  private let state = Mutex<[TopicPartition: Int64]>([:])

  var all: [TopicPartition: Int64] { state.withLock { $0 } }

  func move(_ partition: TopicPartition, to offset: Int64) {
    state.withLock { $0[partition] = max($0[partition] ?? 0, offset) }
  }
}

extension KafkaConfiguration {
  /// Divides 128 MiB among the partitions, at least 2 MiB for each, unless the deployment sets another size. librdkafka
  /// stops reading a partition for a while when its queue is full.
  fileprivate func buffering(_ partitions: Int) -> KafkaConfiguration {
    var reader = self
    let name = "queued.max.messages.kbytes"
    reader.properties[name] = reader.properties[name] ?? "\(max(2_048, (128 << 10) / max(1, partitions)))"
    return reader
  }

  /// The member of the group reads nothing, so it buffers as little as possible.
  fileprivate var asMember: KafkaConfiguration {
    var member = self
    member.properties["queued.max.messages.kbytes"] = "1"
    member.properties["fetch.message.max.bytes"] = "1024"
    return member
  }
}
