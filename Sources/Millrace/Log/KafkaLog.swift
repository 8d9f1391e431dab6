// Kafka as the log of workers: the clients of module Kafka behind the log's protocols.

public import Kafka

/// A Kafka cluster, real or embedded.
public struct KafkaLog: RecordLog {
  /// The cluster's id; `all` capabilities, or those of an embedded cluster.
  public let description: LogDescription

  let configuration: KafkaConfiguration
  private let admin: KafkaAdmin
  private let watermarks: WatermarkQuestions
  private let observer: @Sendable (_ client: String) -> ClientObserver

  /// The log of a cluster that was asked what it is.
  ///
  /// - Parameters:
  ///   - configuration: How to reach it. The client id is followed by what each client is for.
  ///   - cluster: What it said of itself; decides ``LogDescription/capabilities``.
  ///   - observer: Makes an observer for each client, by the client's purpose (`reader`, `writer`, `transactions`,
  ///     `scan`).
  public init(
    _ configuration: KafkaConfiguration, cluster: ClusterDescription,
    observer: @escaping @Sendable (_ client: String) -> ClientObserver = { _ in ClientObserver() }
  ) {
    var configuration = configuration
    if cluster.isEmbedded {
      // It does not wake an idle fetch, and each rebalance takes it a session less a second; properties win.
      configuration.properties.merge(Self.embeddedDefaults) { given, _ in given }
    }
    self.configuration = configuration
    self.observer = observer
    let admin = KafkaAdmin(configuration.forClient("admin"))
    self.admin = admin
    watermarks = WatermarkQuestions { (partitions, timeout) async throws(KafkaError) in
      try await admin.highWatermarks(of: partitions, timeout: timeout)
    }
    description = LogDescription(
      clusterID: cluster.clusterID, capabilities: cluster.isEmbedded ? .embeddedCluster : .all)
  }

  /// Asks the cluster what it is.
  /// - Throws: ``KafkaError`` where no broker answered within `timeout`.
  public static func connect(
    _ configuration: KafkaConfiguration, timeout: Duration,
    observer: @escaping @Sendable (_ client: String) -> ClientObserver = { _ in ClientObserver() }
  ) async throws(KafkaError) -> KafkaLog {
    let cluster = try await KafkaAdmin(configuration.forClient("admin")).describeCluster(timeout: timeout)
    return KafkaLog(configuration, cluster: cluster, observer: observer)
  }

  // A first join takes it 3 s. A member whose session is shorter can time out while it waits for the group: the embedded
  // cluster then forgets its request, and the client waits for the answer for ever.
  private static let embeddedDefaults = [
    "fetch.wait.max.ms": "10", "session.timeout.ms": "4000", "heartbeat.interval.ms": "500",
  ]

  // MARK: - Questions

  /// Asks for all topics of the cluster, so that none is created by asking.
  public func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    let described = try await admin.describeTopics(topics, withSettings: false, timeout: timeout)
    return Dictionary(described.map { ($0.name, $0.partitionCount) }) { first, _ in first }
  }

  /// Asks the partitions' leaders, with a client that sees open transactions.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await watermarks.answer(partitions, timeout: timeout)
  }

  /// Looks up the records' timestamps.
  public func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    guard description.capabilities.contains(.timeLookup) else {
      throw KafkaError(
        code: .unsupported, operation: "look up offsets by time", reason: "an embedded cluster cannot")
    }
    let consumer = try KafkaConsumer(configuration.forClient("times"), subscription: .partitions([:]))
    let times = Dictionary(partitions.map { ($0, time) }) { first, _ in first }
    return try await consumer.offsets(forTimes: times, timeout: timeout)
  }

  // MARK: - Clients

  /// A consumer with a queue for each partition.
  public func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    var configuration = configuration.forClient("reader")
    configuration.properties["auto.offset.reset"] = configuration.properties["auto.offset.reset"] ?? "earliest"
    configuration.properties["queued.max.messages.kbytes"] = String(max(1, options.prefetchBytes / 1024))
    configuration.properties["group.instance.id"] = options.instance
    // Behind the last record of a topic that transactions write to stands a marker; lag is not counted from it.
    configuration.properties["enable.partition.eof"] = "true"
    if let session = options.sessionTimeout {
      let milliseconds = Int64(session / .milliseconds(1))
      configuration.properties["session.timeout.ms"] = String(milliseconds)
      configuration.properties["heartbeat.interval.ms"] = String(max(1, milliseconds / 5))
    }
    return KafkaLogReader(
      try KafkaConsumer(
        configuration, subscription: .group(group, topics: topics), observer: observer("reader")))
  }

  /// An idempotent producer with `acks=all`.
  public func makeWriter() throws(KafkaError) -> any LogWriter {
    try KafkaProducer(configuration.forClient("writer"), observer: observer("writer"))
  }

  /// A transactional producer; one send takes at most the transaction's `timeout`.
  public func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    try KafkaTransactionalProducer(
      configuration.forClient("transactions"), transactionalID: id, transactionTimeout: timeout,
      sendTimeout: timeout, observer: observer("transactions"))
  }

  func makeScanner(
    _ starts: [TopicPartition: StartOffset], upTo ahead: Int
  ) throws(KafkaError) -> KafkaConsumer {
    var configuration = configuration.forClient("scan")
    let bounds = ["queued.max.messages.kbytes": ahead / 1024, "max.partition.fetch.bytes": min(ahead, 1 << 20)]
    configuration.properties.merge(bounds.mapValues { String($0) }) { given, _ in given }
    // How a scan learns that what is left of a partition are markers and aborted records.
    configuration.properties["enable.partition.eof"] = "true"
    return try KafkaConsumer(
      configuration, subscription: .partitions(starts), observer: observer("scan"))
  }
}

extension KafkaProducer: LogWriter {}
extension KafkaTransactionalProducer: TransactionalLogWriter {}
extension PartitionQueue: LogPartition {}

/// A consumer in a group.
struct KafkaLogReader: LogReader {
  private let consumer: KafkaConsumer

  init(_ consumer: KafkaConsumer) { self.consumer = consumer }

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable {
    consumer.events.map { event in
      switch event {
      case .assigned(let queues): .assigned(queues)
      case .revoked(let revocation): .revoked(revocation)
      }
    }
  }

  var sinceLastTurn: Duration? { consumer.sinceLastTurn }
  func run() async throws(KafkaError) { try await consumer.run() }
  func shutDown() { consumer.shutDown() }
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) { try await consumer.commit(offsets) }

  func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [CommittedOffset] {
    try await consumer.committed(partitions, timeout: timeout)
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata { try await consumer.groupMetadata() }
}

extension KafkaConfiguration {
  /// The same, named after what the client is for.
  fileprivate func forClient(_ purpose: String) -> KafkaConfiguration {
    var named = self
    named.clientID = "\(clientID)-\(purpose)"
    return named
  }
}
