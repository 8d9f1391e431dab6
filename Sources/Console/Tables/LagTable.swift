// Computes each worker's consumer lag from committed offsets and high watermarks. A value.

internal import AppStore
internal import KafkaClient

/// The result of a cluster survey.
struct ClusterFacts: Sendable {
  /// Partition counts of the topics that exist.
  var topics: [String: Int] = [:]
  /// Each partition's offsets, from the oldest up to the high watermark.
  var ranges: [TopicPartition: Range<Int64>] = [:]
  /// Committed offsets by worker.
  var committed: [String: [TopicPartition: Int64]] = [:]
  /// The timestamp of the first record at or after a committed offset. It is nil if only transaction markers follow.
  var oldest: [TopicPartition: [Int64: Timestamp?]] = [:]
  /// The members of each group, by the group's name. A group that the cluster does not tell is absent.
  var members: [String: [GroupMember]] = [:]
  /// The groups that this process may not describe.
  var refused: [String: KafkaError] = [:]
  /// When the survey ended; nil before the first one.
  var at: Timestamp?
  /// How long the survey took.
  var took = Duration.zero

  /// Whether Kafka has not answered for so long that the figures say nothing about the present. Without a survey they do
  /// not exist.
  func isStale(at now: Timestamp) -> Bool {
    at.map { now - $0 > max(Self.freshness, (took + ConsoleReader.interval) * 2) } ?? false
  }

  private static let freshness = Duration.seconds(5)

  /// Takes the answers of coordinators. A refused group is a problem of that group only.
  /// - Throws: The first other error.
  mutating func learn(_ answers: [String: Result<[GroupMember], KafkaError>]) throws(KafkaError) {
    for (group, answer) in answers {
      do { members[group] = try answer.get() } catch {
        guard error.code == .groupAuthorizationFailed else { throw error }
        refused[group] = error
      }
    }
  }
}

/// The lag of one worker.
struct WorkerLag: Sendable, Hashable {
  /// The lag of one lane over the worker's input topics, without its retry topics.
  struct Lane: Sendable, Hashable {
    var lane: Int32
    /// The number of offsets that are not committed.
    var records: Int64
    /// The timestamp of the oldest uncommitted record.
    var oldest: Timestamp?
    /// The topic that holds the oldest uncommitted record.
    var worst: String?
  }

  var worker: String
  /// Whether the worker's topics exist.
  var hasTopics = true
  /// Whether the worker's group has committed any offset.
  var hasRun = false
  var lanes: [Lane] = []

  var records: Int64 { lanes.reduce(0) { $0 + $1.records } }
  var oldest: Timestamp? { lanes.compactMap(\.oldest).min() }

  /// Computes the lag of a worker.
  /// - Parameters:
  ///   - inputs: Topics that the worker may read: notifications and its replay topic.
  ///   - name: Returns a topic's name for the page.
  init(_ worker: String, inputs: [String], facts: ClusterFacts, name: (String) -> String) {
    self.worker = worker
    let committed = facts.committed[worker] ?? [:]
    // The commits show which topics the worker reads. A subscription is in code, not in the configuration.
    let read = Set(committed.keys.map(\.topic)).intersection(inputs)
    hasRun = !committed.isEmpty
    var lanes: [Int32: Lane] = [:]
    for topic in read.sorted() {
      for number in 0..<Int32(clamping: facts.topics[topic] ?? 0) {
        let partition = TopicPartition(topic: topic, partition: number)
        guard let range = facts.ranges[partition] else { continue }
        let position = max(committed[partition] ?? range.lowerBound, range.lowerBound)
        let oldest = facts.oldest[partition]?[position]
        var records = max(0, range.upperBound - position)
        if case .some(nil) = oldest { records = 0 }
        var lane = lanes[number] ?? Lane(lane: number, records: 0)
        lane.records += records
        if records > 0, let written = oldest ?? nil, written < lane.oldest ?? Timestamp(millisecondsSince1970: .max) {
          lane.oldest = written
          lane.worst = name(topic)
        }
        lanes[number] = lane
      }
    }
    self.lanes = lanes.values.sorted { $0.lane < $1.lane }
  }
}
