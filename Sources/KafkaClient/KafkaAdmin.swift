internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Describes and changes topics, groups and the cluster.
///
/// Each call uses a new client: in librdkafka 2.0.2 an administrative request that the broker does not support can
/// leave later requests of the same client without an answer.
public final class KafkaAdmin: Sendable {
  private let configuration: KafkaConfiguration
  private let blocking: BlockingThread

  /// Creates an admin for a cluster. It does not connect yet.
  public init(_ configuration: KafkaConfiguration) {
    self.configuration = configuration
    blocking = BlockingThread(label: "\(configuration.clientID)-admin")
  }

  /// Describes the cluster at the bootstrap servers.
  /// - Throws: ``KafkaError`` if no broker answered in time.
  public func describeCluster(timeout: Duration) async throws(KafkaError) -> ClusterDescription {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let (metadata, clusterID) = try client.metadata(timeout)
      defer { rd_kafka_metadata_destroy(metadata) }
      return Self.describe(metadata.pointee, clusterID)
    }
  }

  /// Describes the topics in `names` that exist. The request names no topic, so that a broker with automatic creation
  /// creates none.
  ///
  /// - Parameter withSettings: Whether to read the topics' settings too, if the cluster supports it. Needs the
  ///   permission `DescribeConfigs`.
  public func describeTopics(
    _ names: [String], withSettings: Bool = true, timeout: Duration
  ) async throws(KafkaError) -> [TopicDescription] {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let (metadata, clusterID) = try client.metadata(timeout)
      defer { rd_kafka_metadata_destroy(metadata) }
      let wanted = Set(names)
      let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        .filter { $0.err == RD_KAFKA_RESP_ERR_NO_ERROR }
        .map { Self.describe($0) }
        .filter { wanted.contains($0.name) }
        .sorted { $0.name < $1.name }
      let cluster = ClusterDescription(clusterID: clusterID, brokerCount: 0)
      guard withSettings, !cluster.isEmbedded, !topics.isEmpty else { return topics }
      return try TopicConfigReader.fill(topics, client.handle, timeout)
    }
  }

  /// Creates a topic and waits until its partitions have leaders. Brokers answer earlier, and a client that uses the
  /// topic at once may get an unknown-topic error.
  /// - Throws: ``KafkaError``, also if the topic already exists.
  public func createTopic(
    _ name: String, partitions: Int, replicationFactor: Int, settings: [String: String], timeout: Duration
  ) async throws(KafkaError) {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      var message = [CChar](repeating: 0, count: 512)
      var topic = rd_kafka_NewTopic_new(
        name, Int32(clamping: partitions), Int32(clamping: replicationFactor), &message, message.count)
      guard topic != nil else {
        throw KafkaError(
          code: .invalidConfiguration, operation: "create \(name)", reason: String(terminated: message))
      }
      defer { rd_kafka_NewTopic_destroy(topic) }
      for (setting, value) in settings { rd_kafka_NewTopic_set_config(topic, setting, value) }
      try AdminCall(client.handle, timeout, "create \(name)").run { rk, options, queue in
        rd_kafka_CreateTopics(rk, &topic, 1, options, queue)
      } results: { event in
        var count = 0
        return Self.firstError(
          rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count), count)
      }
      try Self.waitForLeaders(of: name, partitions: partitions, &client, timeout)
    }
  }

  /// Returns the names of the topics that begin with a prefix, sorted.
  package func topicNames(withPrefix prefix: String, timeout: Duration) async throws(KafkaError) -> [String] {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      try Self.names(withPrefix: prefix, &client, timeout).sorted()
    }
  }

  private static func names(
    withPrefix prefix: String, _ client: inout AdminClient, _ timeout: Duration
  ) throws(KafkaError) -> [String] {
    let (metadata, _) = try client.metadata(timeout)
    defer { rd_kafka_metadata_destroy(metadata) }
    return UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
      .compactMap { $0.topic.map { String(cString: $0) } }.filter { $0.hasPrefix(prefix) }
  }

  /// Deletes every topic whose name begins with a prefix, with its records. An empty prefix deletes nothing.
  /// - Returns: The number of deleted topics.
  /// - Throws: ``KafkaError`` of the first topic that the cluster did not delete.
  package func deleteTopics(withPrefix prefix: String, timeout: Duration) async throws(KafkaError) -> Int {
    guard !prefix.isEmpty else { return 0 }
    return try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let names = try Self.names(withPrefix: prefix, &client, timeout)
      guard !names.isEmpty else { return 0 }
      var topics = names.map { rd_kafka_DeleteTopic_new($0) }
      defer { for topic in topics { rd_kafka_DeleteTopic_destroy(topic) } }
      try AdminCall(client.handle, timeout, "delete \(names.count) topics").run { rk, options, queue in
        rd_kafka_DeleteTopics(rk, &topics, topics.count, options, queue)
      } results: { event in
        var count = 0
        return Self.firstError(
          rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count), count)
      }
      return names.count
    }
  }

  /// Deletes the records of partitions before offsets.
  /// - Throws: ``KafkaError`` of the first partition whose records were not deleted.
  package func deleteRecords(before offsets: [CommittedOffset], timeout: Duration) async throws(KafkaError) {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let list = TopicPartitionList(offsets)
      var request = rd_kafka_DeleteRecords_new(list.native)
      defer { rd_kafka_DeleteRecords_destroy(request) }
      try AdminCall(client.handle, timeout, "delete records of \(offsets.count) partitions").run { rk, options, queue in
        rd_kafka_DeleteRecords(rk, &request, 1, options, queue)
      } results: { event in
        guard let result = rd_kafka_event_DeleteRecords_result(event),
          let partitions = rd_kafka_DeleteRecords_result_offsets(result)
        else { return nil }
        return partitions.elements.first { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }.map { ($0.err, nil) }
      }
    }
  }

  /// Waits for a topic that another process has just created, and describes it with its settings.
  /// - Throws: ``KafkaError`` if the topic does not exist, with a leader for each partition, in time.
  public func awaitTopic(_ name: String, timeout: Duration) async throws(KafkaError) -> TopicDescription {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let end = ContinuousClock.now.advanced(by: timeout)
      while true {
        try Self.waitForLeaders(of: name, partitions: 1, &client, timeout)
        let (metadata, _) = try client.metadata(timeout)
        defer { rd_kafka_metadata_destroy(metadata) }
        let topic = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
          .map { Self.describe($0) }.first { $0.name == name }
        do throws(KafkaError) {
          if let topic, let described = try TopicConfigReader.fill([topic], client.handle, timeout).first {
            return described
          }
        } catch {
          // The broker that was asked for the settings does not know the topic yet.
          guard error.code == .unknownTopicOrPartition, ContinuousClock.now < end else { throw error }
        }
        guard ContinuousClock.now < end else {
          throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation: "describe \(name)")
        }
        // This thread belongs to the admin, so it may block.
        usleep(50_000)
      }
    }
  }

  /// Changes settings of a topic, keeps its other overrides, and waits until the brokers report the change.
  ///
  /// - Returns: The names of settings that the brokers accepted and still report with another value at the end of the time.
  /// librdkafka 2.0.2 can only replace all overrides of a topic, so this reads them first and sends them again. Two
  /// operators who alter a topic in the same second can therefore undo each other's change.
  @discardableResult
  public func alterTopic(
    _ name: String, settings: [String: String], timeout: Duration
  ) async throws(KafkaError) -> [String] {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      let bare = TopicDescription(name: name, partitionCount: 0, replicationFactor: 0, settings: nil)
      guard let present = try TopicConfigReader.fill([bare], client.handle, timeout).first else { return [] }
      // A read-only setting cannot be sent again, and remains.
      let kept = (present.settings ?? [:]).filter {
        present.overrides.contains($0.key) && !present.readOnly.contains($0.key)
      }
      var resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name)
      defer { rd_kafka_ConfigResource_destroy(resource) }
      for (setting, value) in kept.merging(settings, uniquingKeysWith: { $1 }) {
        rd_kafka_ConfigResource_set_config(resource, setting, value)
      }
      try AdminCall(client.handle, timeout, "alter \(name)").run { rk, options, queue in
        rd_kafka_AlterConfigs(rk, &resource, 1, options, queue)
      } results: { event in
        var count = 0
        let resources = rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count)
        return TopicConfigReader.firstError(resources, count)
      }
      // The controller has the change, but the next broker may not have it yet.
      let end = ContinuousClock.now.advanced(by: timeout)
      while true {
        let present = try TopicConfigReader.fill([bare], client.handle, timeout).first?.settings ?? [:]
        let different = settings.filter { !Self.isSame(present[$0.key], $0.value) }.keys.sorted()
        if different.isEmpty || ContinuousClock.now >= end { return different }
        // This thread belongs to the admin, so it may block.
        usleep(50_000)
      }
    }
  }

  /// Compares the values of a setting. The order of a list has no meaning: `compact,delete` is `delete,compact`.
  package static func isSame(_ actual: String?, _ wanted: String) -> Bool {
    guard let actual else { return false }
    return actual == wanted || actual.split(separator: ",").sorted() == wanted.split(separator: ",").sorted()
  }

  /// Raises a topic's partition count and waits until the new partitions have leaders.
  public func createPartitions(
    of name: String, upTo count: Int, timeout: Duration
  ) async throws(KafkaError) {
    try await withClient { (client: inout AdminClient) throws(KafkaError) in
      var message = [CChar](repeating: 0, count: 512)
      var partitions = rd_kafka_NewPartitions_new(name, count, &message, message.count)
      guard partitions != nil else {
        throw KafkaError(
          code: .invalidConfiguration, operation: "add partitions to \(name)", reason: String(terminated: message))
      }
      defer { rd_kafka_NewPartitions_destroy(partitions) }
      try AdminCall(client.handle, timeout, "add partitions to \(name)").run { rk, options, queue in
        rd_kafka_CreatePartitions(rk, &partitions, 1, options, queue)
      } results: { event in
        var count = 0
        let topics = rd_kafka_CreatePartitions_result_topics(
          rd_kafka_event_CreatePartitions_result(event), &count)
        return Self.firstError(topics, count)
      }
      try Self.waitForLeaders(of: name, partitions: count, &client, timeout)
    }
  }

  /// Returns for each partition the offset of its oldest record and the high watermark: the offset after its newest
  /// record, including records of open transactions. A consumer's own ``KafkaConsumer/watermarks(of:timeout:)`` ends at
  /// the last stable offset, before them.
  /// - Throws: ``KafkaError`` if the query of a partition failed.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    guard !partitions.isEmpty else { return [:] }
    // librdkafka queries offsets with the handle's isolation level, for every kind of client.
    let properties = ["isolation.level": "read_uncommitted"]
    return try await withClient(properties) { (client: inout AdminClient) throws(KafkaError) in
      try client.handle.watermarks(of: Set(partitions), timeout: timeout)
    }
  }

  // MARK: - Implementation

  func withClient<Value: Sendable>(
    _ more: [String: String] = [:], _ body: @escaping @Sendable (inout AdminClient) throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    let properties = try configuration.adminProperties().merging(more) { $1 }
    let label = "\(configuration.clientID)-admin"
    let (gate, tokens, reporter) = (configuration.gate, configuration.tokens, configuration.reporter)
    return try await blocking.run { () throws(KafkaError) in
      let handle = try ClientHandle(.producer, properties: properties, label: label, gate: gate, tokens: tokens)
      var client = AdminClient(handle: handle, reporter: reporter, problems: BrokerProblems(properties: properties))
      do throws(KafkaError) {
        return try body(&client)
      } catch {
        throw client.explained(error)
      }
    }
  }

  /// Blocks until each partition of a new topic has a leader, according to this client's brokers.
  private static func waitForLeaders(
    of name: String, partitions count: Int, _ client: inout AdminClient, _ timeout: Duration
  ) throws(KafkaError) {
    let end = ContinuousClock.now.advanced(by: timeout)
    while true {
      let left = end - ContinuousClock.now
      guard left > .zero else {
        throw KafkaError(
          code: .of(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE), operation: "wait for \(name)",
          reason: "the topic was created, but not all of its partitions have a leader yet", isRetriable: true)
      }
      let (metadata, _) = try client.metadata(left)
      defer { rd_kafka_metadata_destroy(metadata) }
      let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
      let found = topics.first { topic in topic.topic.map { String(cString: $0) } == name }
      if let found, found.err == RD_KAFKA_RESP_ERR_NO_ERROR {
        let partitions = UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt))
        if partitions.count >= count, partitions.allSatisfy({ $0.leader >= 0 }) { return }
      }
      // This thread belongs to the admin, so it may block.
      usleep(50_000)
    }
  }

  private static func describe(_ metadata: rd_kafka_metadata, _ clusterID: String?) -> ClusterDescription {
    let answering = Set(
      UnsafeBufferPointer(start: metadata.brokers, count: Int(metadata.broker_cnt)).map { Int($0.id) })
    var holding: Set<Int> = []
    for topic in UnsafeBufferPointer(start: metadata.topics, count: Int(metadata.topic_cnt)) {
      for partition in UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt)) {
        holding.formUnion(
          UnsafeBufferPointer(start: partition.replicas, count: Int(partition.replica_cnt)).map { Int($0) })
      }
    }
    return ClusterDescription(
      clusterID: clusterID, brokerCount: answering.count, absentBrokers: holding.subtracting(answering).sorted())
  }

  private static func describe(_ topic: rd_kafka_metadata_topic) -> TopicDescription {
    let partitions = UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
    return TopicDescription(
      name: topic.topic.map { String(cString: $0) } ?? "", partitionCount: partitions.count,
      replicationFactor: Int(partitions.map(\.replica_cnt).min() ?? 0), settings: nil,
      partitions: partitions.map {
        .init(hasLeader: $0.leader >= 0, replicas: Int($0.replica_cnt), inSync: Int($0.isr_cnt))
      })
  }

  private static func firstError(
    _ topics: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
  ) -> (rd_kafka_resp_err_t, String?)? {
    for topic in UnsafeBufferPointer(start: topics, count: count) {
      let error = rd_kafka_topic_result_error(topic)
      if error != RD_KAFKA_RESP_ERR_NO_ERROR {
        return (error, rd_kafka_topic_result_error_string(topic).map { String(cString: $0) })
      }
    }
    return nil
  }
}
