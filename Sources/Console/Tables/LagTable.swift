// How far each worker is behind, from what its group has committed and what its topics hold. A value.

internal import AppStore
internal import Kafka

/// What the cluster said the last time it was asked.
struct ClusterFacts: Sendable {
  /// Partition counts of the topics that exist.
  var topics: [String: Int] = [:]
  /// The oldest offset, and the one behind the newest.
  var ranges: [TopicPartition: Range<Int64>] = [:]
  /// What each worker's group has committed.
  var committed: [String: [TopicPartition: Int64]] = [:]
  /// When the first record behind a commit was written; nil where there is none although offsets are missing: those are
  /// ends of transactions.
  var oldest: [TopicPartition: [Int64: Timestamp?]] = [:]
  /// When it was asked.
  var at: Timestamp?
}

/// How far one worker is behind.
struct WorkerLag: Sendable, Hashable {
  /// One lane, all topics that the worker reads live.
  struct Lane: Sendable, Hashable {
    var lane: Int32
    /// Offsets that are not committed.
    var records: Int64
    /// When the oldest of their records was written.
    var oldest: Timestamp?
    /// The topic that is most behind, by its family.
    var worst: String?
  }

  var worker: String
  /// Whether its topics are in the cluster.
  var hasTopics = true
  /// Whether its group has committed anything.
  var hasRun = false
  var lanes: [Lane] = []

  var records: Int64 { lanes.reduce(0) { $0 + $1.records } }
  var oldest: Timestamp? { lanes.compactMap(\.oldest).min() }

  /// The lag of a worker.
  /// - Parameters:
  ///   - inputs: Topics it may read: notifications, and what is sent to it again.
  ///   - name: How a topic is called on the page.
  init(_ worker: String, inputs: [String], facts: ClusterFacts, name: (String) -> String) {
    self.worker = worker
    let committed = facts.committed[worker] ?? [:]
    // Which of them it reads is known by its commits: a subscription is code, not configuration.
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
