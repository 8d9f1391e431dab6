// From a request to ranges of offsets: fixed before anything is sent, so that a run has an end although its topics grow.

internal import AppStore
public import Kafka
internal import Millrace

/// What a run will read.
public struct ReplayPlan: Sendable, Hashable {
  /// Offsets of one partition.
  public struct Part: Sendable, Hashable {
    /// The partition.
    public var partition: TopicPartition
    /// The offsets, the last one excluded.
    public var offsets: Range<Int64>
  }

  /// What was asked for.
  public var request: ReplayRequest
  /// By topic and partition; partitions without a chosen offset are left out.
  public var parts: [Part]

  /// How many offsets there are to look at.
  public var offsets: Int64 { parts.reduce(0) { $0 + Int64($1.offsets.count) } }
}

/// Asks the log what a request means.
struct ReplayPlanner: Sendable {
  let log: any RecordLog
  let prefix: String

  static let timeout = Duration.seconds(30)

  /// - Throws: ``OperationError`` that names the flag and what there is; `KafkaError`.
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
          remedy: "name one of them")
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
      // Where no record is as late as that, there is none to begin with, and none to end before.
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
      throw OperationError(
        .usage, "no such topic in the cluster", at: "--topic \(topic)",
        remedy: "it is the name in Kafka, prefix included")
    }
    for topic in own where counts[topic] == nil {
      switch request.target {
      case .worker(let name):
        throw OperationError(
          .usage, "there is no topic \(topic)", at: "--worker \(name)",
          remedy: "a new worker's topics come with millrace topics apply once `workers` names it")
      case .topic:
        throw OperationError(
          .usage, "no such topic in the cluster", at: "--to-topic \(topic)",
          remedy: "it is the name in Kafka, prefix included; create it first")
      }
    }
    if case .worker(let name) = request.target {
      let lanes = counts[own.first ?? ""]
      for topic in request.selection.topics where counts[topic] != lanes {
        throw OperationError(
          .usage, "\(topic) has \(counts[topic] ?? 0) partitions where \(name) has \(lanes ?? 0) lanes", at: "--topic",
          remedy: "replay topics of one partition count alone: a lane sends what its own partition holds")
      }
    }
    return counts
  }

  private func offsets(
    since time: Timestamp?, _ flag: String, of partitions: [TopicPartition]
  ) async throws -> [TopicPartition: Int64]? {
    guard let time else { return nil }
    do {
      return try await log.offsets(of: partitions, since: time.millisecondsSince1970, timeout: Self.timeout)
    } catch let error where error.code == .unsupported {
      throw OperationError(
        .usage, "this cluster cannot look up offsets by time: it is the embedded one", at: flag,
        remedy: "choose offsets of one partition by --partition, --from and --to")
    }
  }

  private func check(_ selection: RecordSelection, holding range: Range<Int64>) throws(OperationError) {
    let (from, to) = (selection.from ?? range.lowerBound, selection.to ?? range.upperBound)
    guard range.lowerBound > from || to > range.upperBound || (selection.from != nil && range.isEmpty) else { return }
    guard !range.isEmpty else {
      throw OperationError(.usage, "the partition holds no record", at: "--from, --to", remedy: "check --partition")
    }
    throw OperationError(
      .usage, "the partition holds \(range.lowerBound) to \(range.upperBound - 1)", at: "--from, --to",
      remedy: "stay within --from \(range.lowerBound) --to \(range.upperBound)")
  }
}

extension WorkerTopics {
  /// The topics that have to be there, the one with as many partitions as lanes first.
  static func targets(_ target: ReplayRequest.Target, prefix: String) -> [String] {
    switch target {
    case .worker(let name):
      let topics = WorkerTopics(worker: name, inputs: [], delays: [], prefix: prefix)
      return [topics.replay, topics.deadLetters, topics.operations]
    case .topic(let name): return [name, prefix + "millrace.operations"]
    }
  }
}
