// Kafka as the log of workers: the clients of module Kafka as implementations of the log's protocols.

public import KafkaClient

/// A Kafka cluster, real or embedded.
public struct KafkaLog: RecordLog {
  /// The cluster's id and its capabilities: `all` or `embeddedCluster`.
  public let description: LogDescription

  let configuration: KafkaConfiguration
  private let admin: KafkaAdmin
  private let watermarks: WatermarkQuestions
  private var observer: @Sendable (_ client: String) -> ClientObserver

  /// Creates the log of a cluster whose description is known.
  ///
  /// - Parameters:
  ///   - configuration: How to reach the cluster. The purpose of each client is appended to the client id.
  ///   - cluster: The cluster's description, which determines ``LogDescription/capabilities``.
  ///   - observer: Returns the observer of a client with a purpose (`reader`, `writer`, `transactions`, `scan`).
  public init(
    _ configuration: KafkaConfiguration, cluster: ClusterDescription,
    observer: @escaping @Sendable (_ client: String) -> ClientObserver = { _ in ClientObserver() }
  ) {
    var configuration = configuration
    if cluster.isEmbedded {
      // It does not wake an idle fetch, and a rebalance takes almost the whole session. Explicit properties win.
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

  /// Connects to a cluster and reads its description.
  /// - Throws: ``KafkaError`` if no broker answered within `timeout`.
  public static func connect(
    _ configuration: KafkaConfiguration, timeout: Duration,
    observer: @escaping @Sendable (_ client: String) -> ClientObserver = { _ in ClientObserver() }
  ) async throws(KafkaError) -> KafkaLog {
    let cluster = try await KafkaAdmin(configuration.forClient("admin")).describeCluster(timeout: timeout)
    return KafkaLog(configuration, cluster: cluster, observer: observer)
  }

  /// Returns a log whose clients report as clients of one of several workers in the process.
  package func reporting(as worker: String) -> KafkaLog {
    var log = self
    log.observer = { [observer] in observer("\(worker)/\($0)") }
    return log
  }

  // The embedded cluster takes 3 s for a first join. A member with a shorter session can time out during the join. The
  // cluster then drops the request, and the client waits for ever.
  private static let embeddedDefaults = [
    "fetch.wait.max.ms": "10", "session.timeout.ms": "4000", "heartbeat.interval.ms": "500",
    // It does not deduplicate repeated requests, and on a busy machine it may not answer for seconds.
    "socket.timeout.ms": "60000",
  ]

  // MARK: - Queries

  /// Requests the metadata of all topics, because a request that names a topic may create it.
  public func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    let described = try await admin.describeTopics(topics, withSettings: false, timeout: timeout)
    return Dictionary(described.map { ($0.name, $0.partitionCount) }) { first, _ in first }
  }

  /// Queries the partitions' leaders with a client that sees open transactions.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await watermarks.answer(partitions, timeout: timeout)
  }

  /// Looks up offsets by the records' timestamps.
  public func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    guard description.capabilities.contains(.timeLookup) else {
      throw KafkaError(
        code: .unsupported, operation: "look up offsets by time", reason: "an embedded cluster does not support it")
    }
    let consumer = try KafkaConsumer(configuration.forClient("times"), subscription: .partitions([:]))
    let times = Dictionary(partitions.map { ($0, time) }) { first, _ in first }
    return try await consumer.offsets(forTimes: times, timeout: timeout)
  }

  // MARK: - Clients

  /// Creates a consumer with a queue for each partition.
  public func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    let configuration = readerConfiguration(options)
    return KafkaLogReader(
      try KafkaConsumer(
        configuration, subscription: .group(group, topics: topics), staticMemberLeaves: options.leavesOnShutDown,
        observer: observer("reader")),
      membership: .init(
        admin: admin, group: group, instance: configuration.properties["group.instance.id"],
        session: Self.session(of: configuration)))
  }

  func readerConfiguration(_ options: LogReaderOptions) -> KafkaConfiguration {
    var configuration = configuration.forClient("reader")
    configuration.properties["auto.offset.reset"] = configuration.properties["auto.offset.reset"] ?? "earliest"
    configuration.properties["queued.max.messages.kbytes"] = String(max(1, options.prefetchBytes / 1024))
    // The embedded cluster has no static members: it would wait for a member that leaves without LeaveGroup.
    let instance = description.capabilities.contains(.staticMembership) ? options.instance : nil
    configuration.properties["group.instance.id"] = instance
    // A transaction marker follows the last record of a transaction; it must not count as lag.
    configuration.properties["enable.partition.eof"] = "true"
    if let session = options.sessionTimeout {
      let milliseconds = Int64(session / .milliseconds(1))
      configuration.properties["session.timeout.ms"] = String(milliseconds)
      configuration.properties["heartbeat.interval.ms"] = String(max(1, milliseconds / 5))
    } else {
      let session = instance == nil ? Self.dynamicSession : Self.staticSession
      configuration.properties.merge(session) { given, _ in given }
    }
    return configuration
  }

  private static func session(of configuration: KafkaConfiguration) -> Duration? {
    configuration.properties["session.timeout.ms"].flatMap { Int64($0) }.map { .milliseconds($0) }
  }

  /// A static member must return within its session to keep its partitions. Otherwise the other members get them within
  /// 25 s: after the session, one heartbeat and the rebalance.
  static let staticSession = ["session.timeout.ms": "18000", "heartbeat.interval.ms": "2000"]
  /// All members wait for the session of a killed dynamic member, even if it restarts at once. Brokers accept 6 s or
  /// more (`group.min.session.timeout.ms`). A process that pauses for less than its session keeps its partitions.
  static let dynamicSession = ["session.timeout.ms": "10000", "heartbeat.interval.ms": "2000"]

  /// Creates an idempotent producer with `acks=all`.
  public func makeWriter() throws(KafkaError) -> any LogWriter {
    try KafkaProducer(configuration.forClient("writer"), observer: observer("writer"))
  }

  /// Creates a transactional producer. A send takes at most the transaction's `timeout`.
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
    // Tells a scan that only markers and aborted records remain in a partition.
    configuration.properties["enable.partition.eof"] = "true"
    return try KafkaConsumer(
      configuration, subscription: .partitions(starts), observer: observer("scan"))
  }
}

extension KafkaProducer: LogWriter {}
extension KafkaTransactionalProducer: TransactionalLogWriter {}
extension PartitionQueue: LogPartition {
  /// Returns the next committed records, or the end of the partition. See ``LogPartition/nextPage(upTo:)``.
  public func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    try await nextPage(upTo: limit, choosing: nil).map { LogPage(records: $0.records, end: $0.end) }
  }
}

/// A consumer in a group.
struct KafkaLogReader: LogReader {
  /// The data for queries about the reader's group.
  struct Membership: Sendable {
    var admin: KafkaAdmin
    var group: String
    var instance: String?
    var session: Duration?
  }

  private let consumer: KafkaConsumer
  private let membership: Membership

  init(_ consumer: KafkaConsumer, membership: Membership) {
    self.consumer = consumer
    self.membership = membership
  }

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

  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder {
    guard let instance = membership.instance else { return .thisReader }
    // Before and after, because the group may answer while this client joins it again.
    let before = await consumer.memberIDs()
    let members = try await membership.admin.members(ofGroup: membership.group, timeout: timeout)
    return InstanceHolder(of: instance, among: members, askedBy: before.union(await consumer.memberIDs()))
  }

  // librdkafka refuses a configuration whose value is no number.
  var sessionTimeout: Duration { membership.session ?? .seconds(45) }
}

extension KafkaConfiguration {
  /// Returns the configuration with the client's purpose appended to the client id.
  fileprivate func forClient(_ purpose: String) -> KafkaConfiguration {
    var named = self
    named.clientID = "\(clientID)-\(purpose)"
    return named
  }
}
