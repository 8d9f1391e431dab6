// Resolves a request to offset ranges before anything is sent, so a run ends even if its topics grow.

internal import AppStore
internal import MillraceTime
package import KafkaClient
internal import MillraceRecords

/// The records that a run reads.
public struct ReplayPlan: Sendable, Hashable {
  /// An offset range of one partition.
  package struct Part: Sendable, Hashable {
    /// The partition.
    package var partition: TopicPartition
    /// The offsets; the upper bound is exclusive.
    package var offsets: Range<Int64>
  }

  /// The request.
  package var request: ReplayRequest
  /// The ranges, ordered by topic and partition. Partitions without selected offsets are omitted.
  package var parts: [Part]
}

/// Resolves requests to offsets.
struct ReplayPlanner: Sendable {
  let log: any RecordLog
  let prefix: String
  /// The clock of the records' times.
  let clock: MillraceClock

  static let timeout = Duration.seconds(30)

  /// - Throws: ``OperationError`` that names the flag and its valid values; `KafkaError`.
  func plan(_ request: ReplayRequest) async throws -> ReplayPlan {
    try request.check(prefix: prefix)
    let selection = request.selection
    let counts = try await counts(request)
    var partitions: [TopicPartition] = []
    for topic in selection.topics {
      let count = Int32(clamping: counts[topic] ?? 0)
      if let wrong = selection.partitions.first(where: { !(0..<count).contains($0) }) {
        throw OperationError(
          .usage, "\(topic) has partitions 0 to \(count - 1), not \(wrong)", at: "--partition",
          remedy: "choose one of them")
      }
      let chosen = selection.partitions.isEmpty ? Array(0..<count) : selection.partitions
      partitions += Set(chosen).map { TopicPartition(topic: topic, partition: $0) }
    }
    let held = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
    let first = try await offsets(since: selection.since, "--since", of: partitions)
    let end = try await offsets(since: selection.until, "--until", of: partitions)
    var parts: [ReplayPlan.Part] = []
    for partition in partitions.sorted() {
      let range = held[partition] ?? 0..<0
      try check(selection, holding: range)
      // If no record is that late, the range starts or ends at the end of the partition.
      let lower = max(range.lowerBound, selection.from ?? 0, first.map { $0[partition] ?? range.upperBound } ?? 0)
      let upper = min(range.upperBound, selection.to ?? .max, end.map { $0[partition] ?? range.upperBound } ?? .max)
      if lower < upper { parts.append(.init(partition: partition, offsets: lower..<upper)) }
    }
    return ReplayPlan(request: request, parts: parts)
  }

  private func counts(_ request: ReplayRequest) async throws -> [String: Int] {
    let own = WorkerTopics.targets(request.target, prefix: prefix)
    let counts = try await log.partitionCounts(of: request.selection.topics + own, timeout: Self.timeout)
    for topic in request.selection.topics where counts[topic] == nil {
      throw OperationError.missing(
        topic, .usage, at: "--topic \(topic)", remedy: "use the name in Kafka, including the prefix")
    }
    for topic in own where counts[topic] == nil {
      switch request.target {
      case .worker(let name):
        throw OperationError(
          .usage, "no topic \(topic) in the cluster, or this user may not describe it", at: "--worker \(name)",
          remedy: "for a new worker, add it to `workers` and run millrace topics apply")
      case .topic:
        throw OperationError.missing(
          topic, .usage, at: "--to-topic \(topic)",
          remedy: "use the name in Kafka, including the prefix, and create the topic first")
      }
    }
    if case .worker(let name) = request.target {
      let lanes = counts[own.first ?? ""]
      for topic in request.selection.topics where counts[topic] != lanes {
        throw OperationError(
          .usage, "\(topic) has \(counts[topic] ?? 0) partitions, but \(name) has \(lanes ?? 0) lanes", at: "--topic",
          remedy: "choose topics with as many partitions as the worker has lanes")
      }
    }
    return counts
  }

  private func offsets(
    since time: Timestamp?, _ flag: String, of partitions: [TopicPartition]
  ) async throws -> [TopicPartition: Int64]? {
    // Kafka's index has only real time. With a simulated clock, each record's time is compared as it is read.
    guard let time, !clock.isSimulated else { return nil }
    do {
      return try await log.offsets(of: partitions, since: time.millisecondsSince1970, timeout: Self.timeout)
    } catch let error where error.code == .unsupported {
      throw OperationError(
        .usage, "the embedded cluster cannot look up offsets by time", at: flag,
        remedy: "choose offsets of one partition with --partition, --from and --to")
    }
  }

  private func check(_ selection: RecordSelection, holding range: Range<Int64>) throws(OperationError) {
    let (from, to) = (selection.from ?? range.lowerBound, selection.to ?? range.upperBound)
    guard range.lowerBound > from || to > range.upperBound || (selection.from != nil && range.isEmpty) else { return }
    guard !range.isEmpty else {
      throw OperationError(.usage, "the partition is empty", at: "--from, --to", remedy: "check --partition")
    }
    throw OperationError(
      .usage, "the partition has offsets \(range.lowerBound) to \(range.upperBound - 1)", at: "--from, --to",
      remedy: "stay within --from \(range.lowerBound) --to \(range.upperBound)")
  }
}

extension WorkerTopics {
  /// The topics that have to exist. The first has one partition per lane.
  static func targets(_ target: ReplayRequest.Target, prefix: String) -> [String] {
    switch target {
    case .worker(let name):
      let topics = WorkerTopics(worker: name, inputs: [], delays: [], prefix: prefix)
      return [topics.replay, topics.deadLetters, topics.operations]
    case .topic(let name): return [name, prefix + "millrace.operations"]
    }
  }
}
