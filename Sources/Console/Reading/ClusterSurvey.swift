// Reads watermarks of topics and committed offsets of consumer groups. Reading committed offsets needs no membership,
// so the console joins no group.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// Collects the state of topics and consumer groups from the cluster.
struct ClusterSurvey: Sendable {
  private let topics: ConsoleTopics
  private let admin: KafkaAdmin
  private let groups: [String: KafkaConsumer]
  private let cluster: ClusterDescription
  /// Reads the first records of partitions.
  private let probe: KafkaLog
  private let clock: MillraceClock

  static let timeout = Duration.seconds(15)
  /// The number of partitions whose oldest record one survey looks up. Later surveys look up the rest.
  static let maximumProbes = 200
  /// The time limit for these partitions together. Timestamps that are not read by then stay unknown.
  private static let patience = Duration.seconds(5)

  init(
    _ configuration: KafkaConfiguration, _ topics: ConsoleTopics, cluster: ClusterDescription,
    clock: MillraceClock = .system
  ) throws {
    self.cluster = cluster
    self.topics = topics
    var reader = configuration.reading(kilobytes: 32, messages: 1)
    // Only the first record is needed, so do not wait for a larger fetch.
    reader.properties["fetch.wait.max.ms"] = "20"
    probe = KafkaLog(reader, cluster: cluster)
    self.clock = clock
    admin = KafkaAdmin(configuration)
    var groups: [String: KafkaConsumer] = [:]
    for worker in topics.workers {
      // This consumer is never run, so it never joins the group.
      groups[worker] = try KafkaConsumer(configuration, subscription: .group(topics.group(of: worker), topics: []))
    }
    self.groups = groups
  }

  /// Returns the present state of the cluster.
  /// - Parameter before: The last survey. Its timestamps are reused.
  func facts(after before: ClusterFacts) async throws -> ClusterFacts {
    var facts = ClusterFacts()
    let start = clock.now
    let described = try await admin.describeTopics(
      topics.kinds.keys.sorted(), withSettings: false, timeout: Self.timeout)
    facts.topics = Dictionary(described.map { ($0.name, $0.partitionCount) }) { first, _ in first }
    let partitions = described.flatMap { topic in
      (0..<Int32(clamping: topic.partitionCount)).map { TopicPartition(topic: topic.name, partition: $0) }
    }
    if !cluster.isEmbedded {
      let names = topics.workers.map(topics.group(of:)) + (topics.postgres.map { [$0] } ?? [])
      if !names.isEmpty { try facts.learn(await admin.members(ofGroups: names, timeout: Self.timeout)) }
    }
    // Read committed offsets before high watermarks, so that no lag is negative. The client of a refused group would wait
    // for its coordinator in vain.
    for (worker, consumer) in groups where facts.refused[topics.group(of: worker)] == nil {
      let inputs = Set(topics.inputs(of: worker) + topics.retries(of: worker).map(\.topic))
      let own = partitions.filter { inputs.contains($0.topic) }
      guard !own.isEmpty else { continue }
      let committed = try await consumer.committed(own, timeout: Self.timeout)
      facts.committed[worker] = Dictionary(
        committed.map { ($0.partition, $0.offset) }
      ) { $1 }
    }
    facts.ranges = try await admin.highWatermarks(of: partitions, timeout: Self.timeout)
    facts.oldest = try await oldest(facts, known: before.oldest)
    facts.at = clock.wallTime
    facts.took = start.duration(to: clock.now)
    return facts
  }

  /// Returns the timestamp of the first uncommitted record of each partition.
  private func oldest(
    _ facts: ClusterFacts, known: [TopicPartition: [Int64: Timestamp?]]
  ) async throws -> [TopicPartition: [Int64: Timestamp?]] {
    var found: [TopicPartition: [Int64: Timestamp?]] = [:]
    var wanted: [(partition: TopicPartition, offset: Int64, behind: Int64)] = []
    for worker in topics.workers {
      let inputs = Set(topics.inputs(of: worker))
      for (partition, committed) in facts.committed[worker] ?? [:] where inputs.contains(partition.topic) {
        guard let range = facts.ranges[partition] else { continue }
        let position = max(committed, range.lowerBound)
        guard position < range.upperBound else { continue }
        // If the commit has not moved, the record after it is the same. If there was none, there may be one now.
        if case .some(.some(let time)) = known[partition]?[position] {
          found[partition, default: [:]][position] = .some(time)
        } else if !wanted.contains(where: { $0.partition == partition && $0.offset == position }) {
          wanted.append((partition, position, range.upperBound - position))
        }
      }
    }
    wanted.sort { ($1.behind, $0.partition) < ($0.behind, $1.partition) }
    // Groups may have committed different offsets of one partition. Each pass reads one offset of each partition.
    var rest = wanted.prefix(Self.maximumProbes)[...]
    while !rest.isEmpty {
      var starts: [TopicPartition: Int64] = [:]
      var later: [(partition: TopicPartition, offset: Int64, behind: Int64)] = []
      for probe in rest {
        if starts[probe.partition] == nil { starts[probe.partition] = probe.offset } else { later.append(probe) }
      }
      for (partition, time) in try await times(from: starts) {
        if let offset = starts[partition] { found[partition, default: [:]][offset] = time }
      }
      rest = later[...]
    }
    return found
  }

  /// - Returns: The timestamp of the first record by partition: nil if the partition ends without one, absent if unknown.
  private func times(from starts: [TopicPartition: Int64]) async throws -> [TopicPartition: Timestamp?] {
    let found = Mutex<[TopicPartition: Timestamp?]>([:])
    do {
      _ = try await clock.result(within: Self.patience) {
        try await probe.follow(starts.mapValues { .offset($0) }, upTo: 1) { partition, page in
          let time = page.records.first?.timestamp.map { Timestamp(millisecondsSince1970: $0) }
          found.withLock { _ = $0.updateValue(time, forKey: partition) }
          return false
        }
      }
    } catch is KafkaError {
      // A record that cannot be read hides only its own time.
      let rest = starts.filter { start in found.withLock { $0[start.key] == nil } }
      guard starts.count > 1 else { return [:] }
      for (partition, offset) in rest {
        let one = try await times(from: [partition: offset])
        found.withLock { $0.merge(one) { $1 } }
      }
    }
    return found.withLock { $0 }
  }
}

extension KafkaConfiguration {
  /// Returns a configuration for reading many partitions in little memory, with events at their ends.
  /// - Parameters:
  ///   - kilobytes: The largest amount to fetch ahead for each partition, in KiB.
  ///   - messages: The number of records to fetch ahead.
  func reading(kilobytes: Int, messages: Int) -> KafkaConfiguration {
    var reader = self
    let own = [
      "auto.offset.reset": "earliest", "enable.partition.eof": "true", "queued.max.messages.kbytes": "\(kilobytes)",
      "queued.min.messages": "\(messages)", "max.partition.fetch.bytes": "\(kilobytes * 1_024)",
      "fetch.max.bytes": "4194304", "receive.message.max.bytes": "16777216",
    ]
    reader.properties.merge(own) { $1 }
    return reader
  }
}
