// What `millrace replay` is asked for. Pure.

internal import AppStore
public import Millrace

/// Records to be sent again, and where to.
public struct ReplayRequest: Sendable, Hashable {
  /// Where copies go.
  public enum Target: Sendable, Hashable, CustomStringConvertible {
    /// To the replay topic of this worker, which sends them to itself; its group does not move.
    case worker(String)
    /// To this topic, by its name in Kafka.
    case topic(String)

    /// The worker's or the topic's name.
    public var description: String {
      switch self {
      case .worker(let name), .topic(let name): name
      }
    }
  }

  /// Which records; at least one topic.
  public var selection: RecordSelection
  /// Where copies go.
  public var target: Target
  /// Why handlers are to run again for what is done; nil: what is done stays done.
  public var reapply: String?
  /// Records a second at most; nil: as fast as it goes.
  public var rate: Int?
  /// Records at most, the first ones by topic, partition and offset; nil: all.
  public var limit: Int?

  /// Records that `selection` chooses.
  public init(
    _ selection: RecordSelection, to target: Target, reapply: String? = nil, rate: Int? = nil, limit: Int? = nil
  ) {
    (self.selection, self.target, self.reapply) = (selection, target, reapply)
    (self.rate, self.limit) = (rate, limit)
  }

  /// Holds the request against itself.
  /// - Throws: ``OperationError`` that names the flag.
  func check(prefix: String) throws(OperationError) {
    guard !selection.topics.isEmpty else {
      throw OperationError(
        .usage, "no topic to read from", at: "--topic",
        remedy: "name topics by --topic appstore.notifications.refunds or --family refunds")
    }
    if selection.from != nil || selection.to != nil {
      guard selection.topics.count == 1, selection.partitions.count == 1 else {
        throw OperationError(
          .usage, "offsets are those of one partition", at: "--from, --to",
          remedy: "name one --topic and one --partition with them")
      }
    }
    if let from = selection.from, let to = selection.to, from >= to {
      throw OperationError(
        .usage, "nothing between \(from) and \(to)", at: "--from, --to", remedy: "--to is the offset behind the last")
    }
    if let since = selection.since, let until = selection.until, since >= until {
      throw OperationError(
        .usage, "nothing between \(since.rfc3339) and \(until.rfc3339)", at: "--since, --until",
        remedy: "--until is later than --since")
    }
    if !selection.reasons.isEmpty {
      throw OperationError(
        .usage, "only dead letters have a reason", at: "--reason", remedy: "see millrace dead-letters requeue")
    }
    guard case .topic(let target) = target else { return }
    if reapply != nil {
      throw OperationError(
        .usage, "a topic has no handlers to run again", at: "--reapply", remedy: "name a worker by --worker")
    }
    if selection.topics.contains(target) {
      throw OperationError(
        .usage, "copies would be copied again", at: "--to-topic", remedy: "choose a topic that --topic does not name")
    }
    if target.hasPrefix(prefix + "millrace.") {
      throw OperationError(
        .usage, "\(target) is Millrace's own", at: "--to-topic",
        remedy: "to send records to a worker again, name it by --worker")
    }
  }
}
