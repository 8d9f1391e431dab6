// The simulated Kafka as the log of one process.

internal import KafkaClient
internal import MillraceRecords

struct SimulatedLog: RecordLog {
  let cluster: Cluster
  let process: Simulation.ProcessID
  /// The name of the process in the timeline.
  let name: String

  let description = LogDescription(clusterID: "simulated", capabilities: .all)

  private func link(_ purpose: String, timeout: Duration = .seconds(60)) -> ClientLink {
    ClientLink(cluster, process: process, name: "\(name)/\(purpose)", timeout: timeout)
  }

  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    let end: RequestEnd<[String: Int]> = await link("admin").persist(
      .metadata, to: { $0.anyNode }, within: timeout
    ) { cluster, answer in
      answer(
        .success(
          Dictionary(topics.compactMap { topic in cluster.partitionCount(of: topic).map { (topic, $0) } }) { $1 }))
    }
    return try end.get("look up topics")
  }

  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    let link = link("admin")
    var found: [TopicPartition: Range<Int64>] = [:]
    for partition in Set(partitions).sorted() {
      let end: RequestEnd<Range<Int64>> = await link.persist(
        .listOffsets, to: { $0.leader(of: partition) }, within: timeout
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            let log = try cluster.known(partition)
            return log.start..<max(log.start, cluster.highWatermark(of: log))
          })
      }
      found[partition] = try end.get("read watermarks of \(partition)")
    }
    return found
  }

  func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    let link = link("admin")
    var found: [TopicPartition: Int64] = [:]
    for partition in Set(partitions).sorted() {
      let end: RequestEnd<Int64> = await link.persist(
        .listOffsets, to: { $0.leader(of: partition) }, within: timeout
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            try cluster.known(partition).committed.first { $0.timestamp ?? 0 >= time }?.offset ?? -1
          })
      }
      let offset = try end.get("look up offsets by time of \(partition)")
      if offset >= 0 { found[partition] = offset }
    }
    return found
  }

  func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    SimulatedReader(link("reader"), group: group, topics: topics, options: options)
  }

  func makeWriter() throws(KafkaError) -> any LogWriter {
    SimulatedProducer(link("writer", timeout: .seconds(5)))
  }

  func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    SimulatedTransactionalProducer(link("transactions of \(id)", timeout: .seconds(5)), id: id, timeout: timeout)
  }

  @discardableResult
  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    let operation = "scan \(partition)"
    var (position, target) = (Int64(0), Int64.max)
    if case .offset(let offset) = end { target = offset }
    if case .offset(let offset) = start { position = offset }
    if end == .highWatermark || start == .earliest || start == .latest {
      let range = try await highWatermarks(of: [partition], timeout: .seconds(30))[partition] ?? 0..<0
      if end == .highWatermark { target = range.upperBound }
      if start == .earliest { position = range.lowerBound }
      if start == .latest { position = range.upperBound }
    }
    let source = SimulatedPartition(link("scan"), partition, start: .offset(position))
    while position < target {
      try Task.checkCancellation()
      switch await source.fetch(from: position, limit: limit) {
      case .answered(let page):
        let records = page.records.filter { $0.offset < target }
        position = min(page.next, target)
        if !records.isEmpty { try await body(records) }
      case .refused(.offsetOutOfRange):
        throw KafkaError(code: .noOffsetReset, operation: operation, reason: "there is no offset \(position)")
      case .refused(let error): throw error.error(operation)
      case .unanswered, .unavailable: await pause(.milliseconds(100))
      case .cancelled: throw CancellationError()
      }
    }
    return position
  }
}
