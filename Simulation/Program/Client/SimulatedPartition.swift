// Reads one partition with Fetch requests, for readers of a group and for scans.

internal import KafkaClient
internal import MillraceRecords

final class SimulatedPartition: LogPartition, @unchecked Sendable {
  enum Start: Sendable {
    case committed(group: String)
    case offset(Int64)
  }

  struct Page: Sendable {
    var records: [ConsumerRecord]
    var next: Int64
    var stable: Int64
  }

  let partition: TopicPartition
  private let link: ClientLink
  private let start: Start
  private(set) var position: Int64?
  private var reportedEnd: Int64?
  private var isClosed = false
  private var waiting: Reply<RequestEnd<Page>>?
  /// `fetch.wait.max.ms`.
  private static let longestWait = Duration.milliseconds(500)

  init(_ link: ClientLink, _ partition: TopicPartition, start: Start) {
    (self.link, self.partition, self.start) = (link, partition, start)
  }

  /// Ends the calls for this partition.
  func close() {
    isClosed = true
    waiting?.resolve(.cancelled)
  }

  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    while !isClosed, !Task.isCancelled {
      guard let position = try await findPosition() else { continue }
      let end = await fetch(from: position, limit: limit)
      guard !isClosed else { return nil }
      switch end {
      case .answered(let page):
        self.position = page.next
        let end = page.next >= page.stable ? page.next : nil
        if !page.records.isEmpty || (end != nil && end != reportedEnd) {
          reportedEnd = end
          return LogPage(records: page.records, end: end)
        }
      // `auto.offset.reset` is `earliest`, and librdkafka says nothing.
      case .refused(.offsetOutOfRange): self.position = await oldestOffset()
      case .refused(let error): throw error.error("read \(partition)")
      case .unanswered, .unavailable: await pause(.milliseconds(100))
      case .cancelled: return nil
      }
    }
    return nil
  }

  private func findPosition() async throws(KafkaError) -> Int64? {
    if let position { return position }
    switch start {
    case .offset(let offset): position = offset
    case .committed(let group):
      let partition = partition
      let end: RequestEnd<[CommittedOffset]> = await link.persist(
        .fetchOffsets, to: { $0.coordinator(of: group) }, within: .seconds(60), retrying: [.unstableOffsetCommit]
      ) { cluster, answer in
        answer(Result { () throws(BrokerError) in try cluster.group(group).offsets(of: [partition]) })
      }
      guard case .answered(let offsets) = end else { return nil }
      if let offset = offsets.first?.offset { position = offset } else { position = await oldestOffset() }
    }
    return position
  }

  private func oldestOffset() async -> Int64? {
    let partition = partition
    let end: RequestEnd<Int64> = await link.persist(
      .listOffsets, to: { $0.leader(of: partition) }, within: .seconds(60)
    ) { cluster, answer in answer(Result { () throws(BrokerError) in try cluster.known(partition).start }) }
    if case .answered(let offset) = end { return offset }
    return nil
  }

  /// Fetches committed records. The leader waits a moment if there are none.
  func fetch(from offset: Int64, limit: Int) async -> RequestEnd<Page> {
    let reply = Reply<RequestEnd<Page>>()
    waiting = reply
    let partition = partition
    return await withTaskCancellationHandler {
      await link.send(.fetch, to: { $0.leader(of: partition) }, reply: reply) { cluster, answer in
        Self.read(cluster, partition, offset, limit, answer)
      }
    } onCancel: {
      reply.resolve(.cancelled)
    }
  }

  private static func read(
    _ cluster: Cluster, _ partition: TopicPartition, _ offset: Int64, _ limit: Int,
    _ answer: @escaping (Result<Page, BrokerError>) -> Void
  ) {
    guard let log = cluster.partition(partition) else { return answer(.failure(.unknownTopicOrPartition)) }
    guard (log.start...log.end).contains(offset) else { return answer(.failure(.offsetOutOfRange)) }
    let page = log.read(from: offset, limit: limit)
    let isNews = page.next > offset
    if isNews {
      return answer(.success(Page(records: page.records, next: page.next, stable: log.lastStableOffset)))
    }
    let isOver = Box(false)
    let look = {
      guard !isOver.value else { return }
      isOver.value = true
      let page = log.read(from: offset, limit: limit)
      answer(.success(Page(records: page.records, next: page.next, stable: log.lastStableOffset)))
    }
    log.onChange(look)
    Simulation.call(in: .world, after: longestWait, look)
  }
}
