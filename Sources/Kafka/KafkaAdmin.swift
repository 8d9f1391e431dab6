internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Looks at topics and changes them.
///
/// Each call uses a client of its own with a time limit of its own: in librdkafka 2.0.2 an administrative request
/// that the broker does not know can leave later ones on the same client without an answer.
public final class KafkaAdmin: Sendable {
  private let configuration: KafkaConfiguration
  private let blocking: BlockingThread

  /// Names the cluster; nothing is connected yet.
  public init(_ configuration: KafkaConfiguration) {
    self.configuration = configuration
    blocking = BlockingThread(label: "\(configuration.clientID)-admin")
  }

  /// Who answers at the bootstrap servers.
  /// - Throws: ``KafkaError`` where no broker answered in time.
  public func describeCluster(timeout: Duration) async throws(KafkaError) -> ClusterDescription {
    try await withClient { handle throws(KafkaError) in
      let (metadata, clusterID) = try Self.metadata(handle, timeout)
      defer { rd_kafka_metadata_destroy(metadata) }
      return ClusterDescription(clusterID: clusterID, brokerCount: Int(metadata.pointee.broker_cnt))
    }
  }

  /// The topics among `names` that exist. Creates none: the request names no topic, so that a broker with automatic
  /// creation has nothing to create.
  ///
  /// - Parameter withSettings: also asks for the topics' settings, where the cluster tells them. Needs the permission
  ///   `DescribeConfigs`.
  public func describeTopics(
    _ names: [String], withSettings: Bool = true, timeout: Duration
  ) async throws(KafkaError) -> [TopicDescription] {
    try await withClient { handle throws(KafkaError) in
      let (metadata, clusterID) = try Self.metadata(handle, timeout)
      defer { rd_kafka_metadata_destroy(metadata) }
      let wanted = Set(names)
      let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        .filter { $0.err == RD_KAFKA_RESP_ERR_NO_ERROR }
        .map { Self.describe($0) }
        .filter { wanted.contains($0.name) }
        .sorted { $0.name < $1.name }
      let cluster = ClusterDescription(clusterID: clusterID, brokerCount: 0)
      guard withSettings, !cluster.isEmbedded, !topics.isEmpty else { return topics }
      return try TopicSettings.fill(topics, handle, timeout)
    }
  }

  /// Creates a topic, and waits until its partitions have leaders: brokers answer before, and a client that asks at once
  /// may hear that there is no such topic.
  /// - Throws: ``KafkaError``; a topic that exists already is an error too.
  public func createTopic(
    _ name: String, partitions: Int, replicationFactor: Int, settings: [String: String], timeout: Duration
  ) async throws(KafkaError) {
    try await withClient { handle throws(KafkaError) in
      var message = [CChar](repeating: 0, count: 512)
      var topic = rd_kafka_NewTopic_new(
        name, Int32(clamping: partitions), Int32(clamping: replicationFactor), &message, message.count)
      guard topic != nil else {
        throw KafkaError(
          code: .invalidConfiguration, operation: "create \(name)", reason: String(terminated: message))
      }
      defer { rd_kafka_NewTopic_destroy(topic) }
      for (setting, value) in settings { rd_kafka_NewTopic_set_config(topic, setting, value) }
      try AdminCall(handle, timeout, "create \(name)").run { rk, options, queue in
        rd_kafka_CreateTopics(rk, &topic, 1, options, queue)
      } results: { event in
        var count = 0
        return Self.firstError(
          rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count), count)
      }
      try Self.waitForLeaders(of: name, partitions: partitions, handle, timeout)
    }
  }

  /// Sets a topic's settings and leaves its other overrides as they are.
  ///
  /// librdkafka 2.0.2 can only replace all overrides of a topic, so they are read first and sent along. Two operators
  /// altering one topic in the same second can therefore undo each other.
  public func alterTopic(
    _ name: String, settings: [String: String], timeout: Duration
  ) async throws(KafkaError) {
    try await withClient { handle throws(KafkaError) in
      let bare = TopicDescription(name: name, partitionCount: 0, replicationFactor: 0, settings: nil)
      guard let present = try TopicSettings.fill([bare], handle, timeout).first else { return }
      let kept = (present.settings ?? [:]).filter { present.overrides.contains($0.key) }
      var resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name)
      defer { rd_kafka_ConfigResource_destroy(resource) }
      for (setting, value) in kept.merging(settings, uniquingKeysWith: { $1 }) {
        rd_kafka_ConfigResource_set_config(resource, setting, value)
      }
      try AdminCall(handle, timeout, "alter \(name)").run { rk, options, queue in
        rd_kafka_AlterConfigs(rk, &resource, 1, options, queue)
      } results: { event in
        var count = 0
        let resources = rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count)
        return TopicSettings.firstError(resources, count)
      }
    }
  }

  /// Raises a topic's partition count, and waits until the new ones have leaders.
  public func createPartitions(
    of name: String, upTo count: Int, timeout: Duration
  ) async throws(KafkaError) {
    try await withClient { handle throws(KafkaError) in
      var message = [CChar](repeating: 0, count: 512)
      var partitions = rd_kafka_NewPartitions_new(name, count, &message, message.count)
      guard partitions != nil else {
        throw KafkaError(
          code: .invalidConfiguration, operation: "add partitions to \(name)", reason: String(terminated: message))
      }
      defer { rd_kafka_NewPartitions_destroy(partitions) }
      try AdminCall(handle, timeout, "add partitions to \(name)").run { rk, options, queue in
        rd_kafka_CreatePartitions(rk, &partitions, 1, options, queue)
      } results: { event in
        var count = 0
        let topics = rd_kafka_CreatePartitions_result_topics(
          rd_kafka_event_CreatePartitions_result(event), &count)
        return Self.firstError(topics, count)
      }
      try Self.waitForLeaders(of: name, partitions: count, handle, timeout)
    }
  }

  /// For each partition the offset of its oldest record and the high watermark: the offset behind its newest record,
  /// counting also those whose transaction is open. A consumer's own ``KafkaConsumer/watermarks(of:timeout:)`` ends at
  /// the last stable offset, before them.
  /// - Throws: ``KafkaError`` where one of them could not be asked.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    guard !partitions.isEmpty else { return [:] }
    // librdkafka asks for offsets with the handle's isolation level, of every kind of client.
    return try await withClient(["isolation.level": "read_uncommitted"]) { handle throws(KafkaError) in
      try handle.watermarks(of: Set(partitions), timeout: timeout)
    }
  }

  // MARK: - Pieces

  private func withClient<Value: Sendable>(
    _ more: [String: String] = [:], _ body: @escaping @Sendable (ClientHandle) throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    let properties = try configuration.adminProperties().merging(more) { $1 }
    let label = "\(configuration.clientID)-admin"
    let gate = configuration.gate
    return try await blocking.run { () throws(KafkaError) in
      let handle = try ClientHandle(.producer, properties: properties, label: label, gate: gate)
      do throws(KafkaError) {
        return try body(handle)
      } catch {
        throw error.explained(by: handle)
      }
    }
  }

  private static func metadata(
    _ handle: ClientHandle, _ timeout: Duration
  ) throws(KafkaError) -> (UnsafePointer<rd_kafka_metadata>, String?) {
    var metadata: UnsafePointer<rd_kafka_metadata>?
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    let error = rd_kafka_metadata(handle.rk, 1, nil, &metadata, milliseconds)
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
      throw KafkaError(error, operation: "read the cluster's metadata")
    }
    guard let text = rd_kafka_clusterid(handle.rk, milliseconds) else { return (metadata, nil) }
    defer { rd_kafka_mem_free(handle.rk, text) }
    return (metadata, String(cString: text))
  }

  /// Blocks until a topic that was just made is there for everybody who asks the brokers that this handle asks.
  private static func waitForLeaders(
    of name: String, partitions count: Int, _ handle: ClientHandle, _ timeout: Duration
  ) throws(KafkaError) {
    let end = ContinuousClock.now.advanced(by: timeout)
    while true {
      let left = end - ContinuousClock.now
      guard left > .zero else {
        throw KafkaError(
          code: .of(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE), operation: "wait for \(name)",
          reason: "it was made; not all of its partitions have a leader yet", isRetriable: true)
      }
      let (metadata, _) = try Self.metadata(handle, left)
      defer { rd_kafka_metadata_destroy(metadata) }
      let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
      let found = topics.first { topic in topic.topic.map { String(cString: $0) } == name }
      if let found, found.err == RD_KAFKA_RESP_ERR_NO_ERROR {
        let partitions = UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt))
        if partitions.count >= count, partitions.allSatisfy({ $0.leader >= 0 }) { return }
      }
      // A thread of its own: nobody else waits behind it.
      usleep(50_000)
    }
  }

  private static func describe(_ topic: rd_kafka_metadata_topic) -> TopicDescription {
    let partitions = UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
    return TopicDescription(
      name: topic.topic.map { String(cString: $0) } ?? "", partitionCount: partitions.count,
      replicationFactor: Int(partitions.map(\.replica_cnt).min() ?? 0), settings: nil)
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

extension KafkaError {
  /// The same error with what the client said meanwhile: a wrong password or certificate shows as a time-out only.
  fileprivate func explained(by handle: ClientHandle) -> KafkaError {
    var causes: [String] = []
    while let event = rd_kafka_queue_poll(handle.queue, 0) {
      if rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR,
        let text = rd_kafka_event_error_string(event).map({ String(cString: $0) }), !causes.contains(text)
      {
        causes.append(text)
      }
      rd_kafka_event_destroy(event)
    }
    guard let last = causes.last else { return self }
    var explained = self
    explained.reason += ": \(last)"
    return explained
  }
}
