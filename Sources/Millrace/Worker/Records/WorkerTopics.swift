// The topics of one worker, by name. Everything it reads and its ledger are lane topics: partition p of all is lane p.

internal import Clocks

/// The names of a worker's topics in Kafka, the deployment's prefix applied.
public struct WorkerTopics: Sendable, Hashable {
  /// The worker's name.
  public let worker: String
  /// The families' topics, sorted.
  public let inputs: [String]
  /// The retry topics, in the order of their delays.
  public let retries: [String]
  /// Records sent again to this worker.
  public let replay: String
  /// What a person has to look at.
  public let deadLetters: String
  /// What was handled and caused.
  public let ledger: String
  /// What the worker tells the world; no lane topic.
  public let events: String
  /// What it writes besides its events, sorted; no lane topics.
  public let tables: [String]
  /// Operators' commands, for all workers.
  public let operations: String
  /// What processes tell each other, such as the time of a 429.
  public let control: String
  /// Who did what, for all workers.
  public let audit: String
  /// The consumer group, and what the worker's transactional ids begin with. It has the prefix too: deployments that
  /// share a cluster must not hand each other's lanes around, nor fence each other.
  public let group: String

  /// Whether a worker may be called so: 1 to 40 lower-case letters, digits and hyphens, beginning with a letter.
  public static func isName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return (1...40).contains(bytes.count) && (97...122).contains(bytes[0])
      && bytes.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// The topics of `worker`.
  ///
  /// - Parameters:
  ///   - inputs: Names of the topics it reads, in Kafka.
  ///   - tables: Topics it writes besides its events, in Kafka.
  ///   - delays: The delays of its retry tiers, ascending.
  ///   - prefix: Put before every name.
  public init(
    worker: String, inputs: some Sequence<String>, tables: some Sequence<String> = [String](), delays: [Duration],
    prefix: String
  ) {
    self.worker = worker
    self.inputs = inputs.sorted()
    self.tables = tables.sorted()
    let own = "\(prefix)millrace.\(worker)."
    retries = delays.map { "\(own)retry.\(DurationText.text($0))" }
    replay = own + "replay"
    deadLetters = own + "dead-letters"
    ledger = own + "ledger"
    events = "\(prefix)appstore.events.\(worker)"
    operations = prefix + "millrace.operations"
    control = prefix + PauseChannel.topic
    audit = prefix + AuditRecord.topic
    group = "\(prefix)millrace.\(worker)"
  }

  /// What the worker reads as a member of its group.
  public var sources: [String] { inputs + retries + [replay] }

  /// What kind of source a topic is.
  func source(of topic: String) -> LaneSource {
    if topic == replay { return .replay }
    return retries.firstIndex(of: topic).map { .retry($0) } ?? .live
  }

  /// What every worker writes or reads besides its lanes and its ``tables``.
  public var others: [String] { [events, operations, control, audit] }

  /// Everything whose partition p is lane p.
  public var laneTopics: [String] { sources + [deadLetters, ledger] }
}
