// The topics of one worker. All that it reads, and its ledger, are lane topics: partition p of each of them is lane p.

internal import MillraceTime

/// The names of a worker's topics in Kafka, including the deployment's prefix.
public struct WorkerTopics: Sendable, Hashable {
  /// The worker's name.
  public let worker: String
  /// The topics of its families, sorted.
  public let inputs: [String]
  /// The retry topics, in the order of their delays.
  public let retries: [String]
  /// The topic of records that are sent to this worker again.
  public let replay: String
  /// The topic of records that an operator has to look at.
  public let deadLetters: String
  /// The topic of handled notifications, effects, timers, counters and states.
  public let ledger: String
  /// The topic of the events that the worker publishes. Not a lane topic.
  public let events: String
  /// Other topics that the worker writes to, sorted. Not lane topics.
  public let outputTopics: [String]
  /// The topic of operators' commands, shared by all workers.
  public let operations: String
  /// The topic of messages between processes, for instance the time of a 429.
  public let control: String
  /// The topic of audit records, shared by all workers.
  public let audit: String
  /// The consumer group, and the prefix of the worker's transactional ids.
  ///
  /// It includes the deployment's prefix. Otherwise deployments that share a cluster would share lanes and fence each
  /// other.
  public let group: String

  /// The name of ``control`` without the deployment's prefix.
  package static let controlTopic = "millrace.control"

  /// Creates the names of a worker's topics.
  ///
  /// - Parameters:
  ///   - worker: The worker's name.
  ///   - inputs: The names, in Kafka, of the topics that the worker reads.
  ///   - outputTopics: The names, in Kafka, of topics that the worker writes to besides its events topic.
  ///   - delays: The retry delays, ascending.
  ///   - prefix: The deployment's prefix, prepended to every other name.
  public init(
    worker: String, inputs: some Sequence<String>, outputTopics: some Sequence<String> = [String](), delays: [Duration],
    prefix: String
  ) {
    self.worker = worker
    self.inputs = inputs.sorted()
    self.outputTopics = outputTopics.sorted()
    let own = "\(prefix)millrace.\(worker)."
    retries = delays.map { "\(own)retry.\(DurationText.text($0))" }
    replay = own + "replay"
    deadLetters = own + "dead-letters"
    ledger = own + "ledger"
    events = "\(prefix)appstore.events.\(worker)"
    operations = prefix + "millrace.operations"
    control = prefix + Self.controlTopic
    audit = prefix + AuditRecord.topic
    group = "\(prefix)millrace.\(worker)"
  }

  /// The topics that the worker reads as a member of its consumer group.
  public var sources: [String] { inputs + retries + [replay] }

  /// Whether only the worker itself may write to a topic: its retry, replay and dead-letter topics. The worker trusts a
  /// record's delivery history only there.
  package func isOwn(_ topic: String) -> Bool { topic == replay || topic == deadLetters || retries.contains(topic) }

  /// Topics that every worker reads or writes, besides its lane topics and its ``outputTopics``.
  public var others: [String] { [events, operations, control, audit] }

  /// The worker to which a retry, replay or dead-letter topic belongs, by its name in Kafka; nil for other topics.
  package static func owner(of topic: String) -> String? {
    guard let start = topic.firstRange(of: "millrace.") else { return nil }
    let parts = topic[start.upperBound...].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, !parts[0].isEmpty else { return nil }
    let isOwn =
      switch parts[1] {
      case "retry": parts.count == 3
      case "replay", "dead-letters": parts.count == 2
      default: false
      }
    return isOwn ? String(parts[0]) : nil
  }

  /// All topics whose partition p belongs to lane p.
  public var laneTopics: [String] { sources + [deadLetters, ledger] }
}
