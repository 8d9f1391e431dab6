internal import CRDKafka

/// librdkafka's mock cluster: brokers inside this process, which any number of clients in any process reach over TCP.
///
/// For development and tests. It keeps the newest 5 MiB or 100 000 batches per partition, and nothing once its process
/// ends. It has no transactions, no lookup by time and no administration; see `rdkafka_mock.h`. Its cluster id begins
/// with ``clusterIDPrefix``.
public final class EmbeddedCluster: @unchecked Sendable {
  // Sendable: `cluster` is never reassigned, and each call of the mock API is executed on the cluster's own thread.
  /// The prefix of every embedded cluster's id.
  public static let clusterIDPrefix = "mockCluster"

  /// The brokers' `host:port` pairs on the loopback interface, comma-separated.
  public let bootstrapServers: String
  /// The brokers' ids.
  public let brokers: ClosedRange<Int32>

  private let handle: ClientHandle
  private let cluster: OpaquePointer

  /// Starts a cluster.
  /// - Parameter brokers: The number of brokers, at least 1.
  /// - Throws: ``KafkaError`` if no socket is available.
  public init(brokers: Int = 1) throws(KafkaError) {
    // The handle only hosts the cluster. At a higher log level it would warn that it has no brokers.
    handle = try ClientHandle(
      .producer, properties: ["client.id": "embedded-cluster", "log_level": "3"], label: "embedded")
    guard let cluster = rd_kafka_mock_cluster_new(handle.rk, Int32(clamping: max(1, brokers))),
      let bootstraps = rd_kafka_mock_cluster_bootstraps(cluster)
    else {
      throw KafkaError(code: .unsupported, operation: "start an embedded cluster", reason: "no listening socket")
    }
    self.cluster = cluster
    self.bootstrapServers = String(cString: bootstraps)
    self.brokers = 1...Int32(clamping: max(1, brokers))
  }

  deinit {
    // Destroying joins the cluster's thread, so it happens on the client's; the handle outlives it there.
    nonisolated(unsafe) let cluster = self.cluster
    handle.blocking.schedule { [handle] in
      rd_kafka_mock_cluster_destroy(cluster)
      withExtendedLifetime(handle) {}
    }
  }

  /// Creates a topic. Call it before any client uses the topic: a metadata request creates it with 4 partitions.
  public func createTopic(_ name: String, partitions: Int, replicationFactor: Int = 1) throws(KafkaError) {
    try check(
      rd_kafka_mock_topic_create(cluster, name, Int32(clamping: partitions), Int32(clamping: replicationFactor)),
      "create \(name)")
  }

  /// Closes the broker's connections and refuses new ones until ``bringUp(_:)``.
  public func takeDown(_ broker: Int32) throws(KafkaError) {
    try check(rd_kafka_mock_broker_set_down(cluster, broker), "take broker \(broker) down")
  }

  /// Lets the broker answer again.
  public func bringUp(_ broker: Int32) throws(KafkaError) {
    try check(rd_kafka_mock_broker_set_up(cluster, broker), "bring broker \(broker) up")
  }

  /// Delays each of the broker's answers.
  public func setRoundTrip(_ delay: Duration, of broker: Int32) throws(KafkaError) {
    try check(
      rd_kafka_mock_broker_set_rtt(cluster, broker, Int32(clamping: delay.wholeMilliseconds)),
      "set the round trip of broker \(broker)")
  }

  /// Makes the next requests of a kind fail, one with each of these codes. Records of a failed request are not
  /// appended.
  /// - Parameter apiKey: The request's number in Kafka's protocol; 0 is Produce.
  public func failRequests(apiKey: Int16, with codes: [KafkaError.Code]) {
    let errors = codes.map { rd_kafka_resp_err_t($0.rawValue) }
    rd_kafka_mock_push_request_errors_array(cluster, apiKey, errors.count, errors)
  }

  /// Makes a broker execute its next requests of a kind but answer late. After the client's time limit the answer is
  /// lost, although the request was executed.
  /// - Parameter apiKey: The request's number in Kafka's protocol; 0 is Produce.
  public func delayAnswers(apiKey: Int16, of broker: Int32, by delay: Duration, count: Int) throws(KafkaError) {
    for _ in 0..<count {
      try check(
        millrace_mock_delay_request(
          cluster, broker, apiKey, RD_KAFKA_RESP_ERR_NO_ERROR, Int32(clamping: delay.wholeMilliseconds)),
        "delay answers of broker \(broker)")
    }
  }

  /// Moves a consumer group to another coordinator.
  public func setCoordinator(ofGroup group: String, to broker: Int32) throws(KafkaError) {
    try check(rd_kafka_mock_coordinator_set(cluster, "group", group, broker), "move the group \(group)")
  }

  /// Moves a partition to another broker; -1 removes its leader.
  public func setLeader(of partition: TopicPartition, to broker: Int32) throws(KafkaError) {
    try check(
      rd_kafka_mock_partition_set_leader(cluster, partition.topic, partition.partition, broker),
      "move \(partition)")
  }

  private func check(_ error: rd_kafka_resp_err_t, _ operation: String) throws(KafkaError) {
    guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, operation: operation) }
  }
}
