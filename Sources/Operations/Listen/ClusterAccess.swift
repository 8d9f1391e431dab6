// What a command that reads without a group has to know of a cluster before it starts: partitions and offsets.

internal import Kafka

/// Asks a cluster about the partitions of topics.
struct ClusterAccess: Sendable {
  /// What there is to read.
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

  /// The configuration of a consumer that only looks.
  func readerConfiguration(_ plan: Plan) -> KafkaConfiguration {
    var reader = configuration
    // What retention removes while we read is no error of ours: go on with the oldest that is left.
    reader.properties["auto.offset.reset"] = "earliest"
    // The embedded cluster does not wake a waiting fetch when data arrives, so the wait has to be short.
    if plan.isEmbedded { reader.properties["fetch.wait.max.ms"] = "10" }
    return reader
  }
}
