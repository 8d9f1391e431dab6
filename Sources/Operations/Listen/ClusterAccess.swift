// Looks up partitions and offsets for commands that read without a consumer group.

internal import AppStore
internal import KafkaClient

/// Queries a cluster about the partitions of topics.
struct ClusterAccess: Sendable {
  /// The partitions to read.
  struct Plan: Sendable, Hashable {
    var partitions: [TopicPartition]
    var isEmbedded: Bool
  }

  let configuration: KafkaConfiguration
  let timeout: Duration

  init(_ configuration: KafkaConfiguration, timeout: Duration) {
    self.configuration = configuration
    self.timeout = timeout
  }

  /// The partitions of those topics that exist.
  func plan(of topics: [String]) async throws(KafkaError) -> Plan {
    let cluster = try await configuration.describeCluster(timeout: timeout)
    let described = try await KafkaAdmin(configuration).describeTopics(topics, withSettings: false, timeout: timeout)
    let partitions = described.flatMap { topic in
      (0..<Int32(clamping: topic.partitionCount)).map { TopicPartition(topic: topic.name, partition: $0) }
    }
    return Plan(partitions: partitions.sorted(), isEmbedded: cluster.isEmbedded)
  }

  /// The offsets of the oldest record and behind the newest, now.
  func watermarks(of partitions: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    let probe = try KafkaConsumer(configuration, subscription: .partitions([:]))
    return try await probe.watermarks(of: Set(partitions), timeout: timeout)
  }

  /// The offsets of the oldest records since a time; absent for a partition that has none.
  func offsets(of partitions: [TopicPartition], since time: Timestamp) async throws(KafkaError) -> [TopicPartition:
    Int64]
  {
    let probe = try KafkaConsumer(configuration, subscription: .partitions([:]))
    let times = Dictionary(partitions.map { ($0, time.millisecondsSince1970) }) { first, _ in first }
    return try await probe.offsets(forTimes: times, timeout: timeout)
  }

  /// The configuration of a read-only consumer.
  func readerConfiguration(_ plan: Plan) -> KafkaConfiguration {
    var reader = configuration
    // If retention removes records during the read, continue with the oldest remaining one.
    reader.properties["auto.offset.reset"] = "earliest"
    // The embedded cluster does not wake a waiting fetch when data arrives, so the wait has to be short.
    if plan.isEmbedded { reader.properties["fetch.wait.max.ms"] = "10" }
    return reader
  }
}
