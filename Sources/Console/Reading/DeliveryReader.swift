// Reads what a webhook did with the newest events: the events from their topics, the outcomes from its offsets and its
// ledger, the answers of failed posts from its retry topics and dead letters.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker

/// The failed posts of one event, as far as Kafka has them.
struct FailedPosts: Sendable, Hashable {
  /// The causes, the oldest first.
  var causes: [String] = []
  /// The excerpt of the receiver's last answer; nil if there is none.
  var answer: String?
}

extension FailedPosts {
  init(_ history: DeliveryHistory) { self.init(causes: history.causes, answer: history.lastAnswer) }
}

/// Reads the deliveries of one webhook.
struct DeliveryReader: Sendable {
  let log: any RecordLog
  let topics: ConsoleTopics
  let worker: String

  /// The number of deliveries on a page.
  static let limit = 100
  /// The number of offsets to read from each partition of a retry topic or of dead letters for the causes of a failure.
  private static let history: Int64 = 2_000
  private static let timeout = Duration.seconds(15)

  /// The topics of events that the webhook may read.
  var events: [String] {
    topics.inputs(of: worker).filter { if case .events? = topics.kinds[$0] { true } else { false } }
  }

  private var names: WorkerTopics { WorkerTopics(worker: worker, inputs: [], delays: [], prefix: topics.prefix) }

  /// Returns the newest deliveries, the newest first.
  func recent() async throws -> [WebhookDelivery] {
    let found = try await log.fold(try await newest(Int64(Self.limit), of: events), into: [WebhookDelivery]()) {
      deliveries, page in
      deliveries += page.records.compactMap { WebhookDelivery($0) }
      guard deliveries.count > 2 * Self.limit else { return }
      deliveries = Self.newest(deliveries)
    }
    return try await completed(Self.newest(found))
  }

  /// Returns one delivery with its record, and its failed posts; nil if there is no such event.
  func delivery(
    _ position: RecordPosition
  ) async throws -> (delivery: WebhookDelivery, record: ConsumerRecord, failures: FailedPosts)? {
    let partition = TopicPartition(topic: position.topic, partition: position.partition)
    guard events.contains(position.topic),
      let range = try await log.highWatermarks(
        of: try await log.partitions(of: [position.topic]).filter { $0 == partition }, timeout: Self.timeout)[
          partition],
      range.contains(position.offset),
      let record = try await log.record(at: position.offset, of: partition),
      let delivery = WebhookDelivery(record), let completed = try await completed([delivery]).first
    else { return nil }
    return (completed, record, try await failures(of: delivery.id))
  }

  private func failures(of id: String) async throws -> FailedPosts {
    let places = topics.retries(of: worker).map(\.topic) + [names.deadLetters]
    let newest = try await log.fold(
      try await newest(Self.history, of: places), where: HeaderFilter(["ce_id": [Array(id.utf8)]]),
      into: ConsumerRecord?.none
    ) { newest, page in
      for record in page.records where record.timestamp ?? 0 >= newest?.timestamp ?? 0 { newest = record }
    }
    return newest.map { FailedPosts(DeliveryHistory($0)) } ?? FailedPosts()
  }

  private func newest(_ count: Int64, of topics: [String]) async throws -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(of: try await log.partitions(of: topics), timeout: Self.timeout).mapValues { range in
      max(range.lowerBound, range.upperBound - count)..<range.upperBound
    }
  }

  private static func newest(_ deliveries: [WebhookDelivery]) -> [WebhookDelivery] {
    Array(
      deliveries.sorted { ($1.publishedAt, $1.position.offset) < ($0.publishedAt, $0.position.offset) }.prefix(limit))
  }

  /// Adds the states of deliveries. Offsets are read before the ledger, which has the outcome of each event before them.
  private func completed(_ deliveries: [WebhookDelivery]) async throws -> [WebhookDelivery] {
    let partitions = Set(
      deliveries.map { TopicPartition(topic: $0.position.topic, partition: $0.position.partition) })
    guard !partitions.isEmpty else { return [] }
    // This reader is never run, so it never joins the group.
    let reader = try log.makeReader(group: names.group, topics: [], options: LogReaderOptions())
    let committed = try await reader.committed(partitions.sorted(), timeout: Self.timeout)
    let next = Dictionary(committed.map { ($0.partition, $0.offset) }) { $1 }
    let ledger = try await LedgerOutcomes.read(of: Set(deliveries.map(\.id)), by: names, in: log)
    return deliveries.map { delivery in
      let position = delivery.position
      var delivery = delivery
      delivery.state =
        switch ledger.outcome(of: delivery.id) {
        case .done(let status?)?: .delivered(status: status)
        case .done?: .done
        case .delayed(let attempts)?: .waiting(attempts: attempts)
        case .dead?: .dead
        case nil:
          next[TopicPartition(topic: position.topic, partition: position.partition)].map { position.offset < $0 }
            ?? false
            ? .forgotten : .unread
        }
      return delivery
    }
  }
}
