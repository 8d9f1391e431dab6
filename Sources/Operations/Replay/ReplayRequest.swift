// The request of `millrace replay`. Pure.

internal import AppStore
public import MillraceRecords

/// The records to send again and their target.
public struct ReplayRequest: Sendable, Hashable {
  /// The target of the copies.
  public enum Target: Sendable, Hashable, CustomStringConvertible {
    /// The replay topic of this worker, which copies the records itself. Its group's offsets do not change.
    case worker(String)
    /// This topic, given by its name in Kafka.
    case topic(String)

    /// The name of the worker or topic.
    public var description: String {
      switch self {
      case .worker(let name), .topic(let name): name
      }
    }
  }

  /// The records to send; at least one topic.
  package var selection: RecordSelection
  /// The target of the copies.
  package var target: Target
  /// The reason for running handlers again on handled notifications; nil: handled notifications are skipped.
  package var reapply: String?
  /// The maximum number of records per second; nil for no limit.
  package var rate: Int?
  /// The maximum number of records, the first by topic, partition and offset; nil for all.
  package var limit: Int?

  /// Creates a request.
  public init(
    _ selection: RecordSelection, to target: Target, reapply: String? = nil, rate: Int? = nil, limit: Int? = nil
  ) {
    (self.selection, self.target, self.reapply) = (selection, target, reapply)
    (self.rate, self.limit) = (rate, limit)
  }

  /// Checks the request for contradictions.
  /// - Throws: ``OperationError`` that names the flag.
  func check(prefix: String) throws(OperationError) {
    guard !selection.topics.isEmpty else {
      throw OperationError(
        .usage, "no topic is named", at: "--topic",
        remedy: "name topics with --topic appstore.notifications.refunds or --family refunds")
    }
    if selection.from != nil || selection.to != nil {
      guard selection.topics.count == 1, selection.partitions.count == 1 else {
        throw OperationError(
          .usage, "offsets apply to one partition", at: "--from, --to",
          remedy: "also pass exactly one --topic and one --partition")
      }
    }
    if let from = selection.from, let to = selection.to, from >= to {
      throw OperationError(
        .usage, "the range \(from) to \(to) is empty", at: "--from, --to",
        remedy: "pass a greater --to, which is exclusive")
    }
    if let since = selection.since, let until = selection.until, since >= until {
      throw OperationError(
        .usage, "the range \(since.rfc3339) to \(until.rfc3339) is empty", at: "--since, --until",
        remedy: "pass an --until that is later than --since")
    }
    if !selection.reasons.isEmpty {
      throw OperationError(
        .usage, "only dead letters have a reason", at: "--reason", remedy: "use millrace dead-letters requeue")
    }
    guard case .topic(let target) = target else { return }
    if reapply != nil {
      throw OperationError(
        .usage, "a topic has no handlers", at: "--reapply", remedy: "name a worker with --worker")
    }
    if selection.topics.contains(target) {
      throw OperationError(
        .usage, "the replay would read its own copies", at: "--to-topic",
        remedy: "choose a topic that --topic does not name")
    }
    if target.hasPrefix(prefix + "millrace.") {
      throw OperationError(
        .usage, "\(target) belongs to Millrace", at: "--to-topic",
        remedy: "to replay to a worker, name it with --worker")
    }
  }
}
