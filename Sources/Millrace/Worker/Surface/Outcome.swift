// What a handler decides. A value: the runtime writes what follows from it, in one transaction.

public import AppStore

/// What is to become of a notification.
public struct Outcome: Sendable {
  /// The decision.
  public enum Decision: Sendable, Hashable {
    /// Handled; the events, if any, are published.
    case done
    /// Again after this time, counted from now. The largest retry tier that fits is taken, then the next.
    case retry(after: Duration, reason: String)
    /// Given to a person: `reason` is a stable code in lower case with hyphens, `detail` says what to do.
    case deadLetter(reason: String, detail: String)
  }

  /// A timer that lives with the lane.
  public struct Timer: Sendable, Hashable {
    /// Names it inside the worker; setting it again moves it.
    public var name: String
    /// When it fires; nil withdraws it.
    public var at: Timestamp?
    /// What it gives back when it fires.
    public var payload: [UInt8]

    /// The longest name and payload together, in bytes: they stand in the ledger.
    public static let maximumBytes = 256 << 10

    /// A timer.
    public init(name: String, at: Timestamp?, payload: [UInt8] = []) {
      self.name = name
      self.at = at
      self.payload = payload
    }
  }

  /// Something the worker keeps about what the notification is about: small, and there again at the next one.
  public struct State: Sendable, Hashable {
    /// Names it inside the worker, for instance `entitlement/<transactionId>`. One name belongs to notifications of one
    /// key: they come to one lane, one after the other.
    public var name: String
    /// What ``HandlerContext/state(_:)`` gives from now on; nil forgets it.
    public var value: [UInt8]?
    /// The same for others to read, in a compacted topic for instance; written whenever the value changes.
    public var row: OutputRecord?

    /// The longest name and value together, in bytes: they stand in the ledger, and in memory while the lane is owned.
    public static let maximumBytes = 64 << 10
  }

  /// The decision.
  public var decision: Decision
  /// What is published, in order, when the decision is ``Decision/done``.
  public var events: [EncodedEvent] = []
  /// Timers set or withdrawn together with the decision, whichever it is.
  public var timers: [Timer] = []
  /// What is kept together with the decision, when that is ``Decision/done``. Not compared by `--reapply`: a state that
  /// differs from the one that is kept is written, whether or not the events differ.
  public var states: [State] = []
  /// Records for other topics, written together with the decision, whichever it is: a compacted table, for instance.
  public var records: [OutputRecord] = []
  /// What is added to the lane's counters when the decision is ``Decision/done``, once for each notification however
  /// often its handler runs; ``HandlerContext/tally(of:)`` sums the lanes.
  public var counts: [String: Int64] = [:]

  /// An outcome of this decision.
  public init(_ decision: Decision) { self.decision = decision }

  /// Whether nothing follows from it but that the notification is done.
  var isIgnored: Bool {
    decision == .done && events.isEmpty && timers.isEmpty && states.isEmpty && records.isEmpty && counts.isEmpty
  }

  /// Nothing to do.
  public static var ignore: Outcome { Outcome(.done) }

  /// Publishes these events, in order.
  /// - Throws: `EncodingError` for a value that JSON cannot hold.
  public static func emit<each Event: WorkerEvent>(_ event: repeat each Event) throws -> Outcome {
    var outcome = Outcome(.done)
    for event in repeat each event { outcome.events.append(try EncodedEvent(event)) }
    return outcome
  }

  /// Again later.
  /// - Parameters:
  ///   - delay: from now; shorter ones than the shortest tier wait that long.
  ///   - reason: for metrics and the dead letter that may come of it: lower case with hyphens.
  public static func retry(after delay: Duration, because reason: String) -> Outcome {
    Outcome(.retry(after: delay, reason: reason))
  }

  /// To the dead letters, where a person decides.
  public static func deadLetter(_ reason: String, _ detail: String) -> Outcome {
    Outcome(.deadLetter(reason: reason, detail: detail))
  }

  /// The same, with a timer.
  public func settingTimer(_ name: String, at time: Timestamp, payload: [UInt8] = []) -> Outcome {
    var outcome = self
    outcome.timers.append(Timer(name: name, at: time, payload: payload))
    return outcome
  }

  /// The same, without that timer.
  public func cancellingTimer(_ name: String) -> Outcome {
    var outcome = self
    outcome.timers.append(Timer(name: name, at: nil))
    return outcome
  }

  /// The same, keeping a state.
  /// - Parameter row: The same for others to read; its topic belongs into ``NotificationWorker/tables``.
  public func keeping(_ name: String, _ value: [UInt8]?, row: OutputRecord? = nil) -> Outcome {
    var outcome = self
    outcome.states.append(State(name: name, value: value, row: row))
    return outcome
  }

  /// The same, adding to a counter.
  public func counting(_ name: String, by count: Int64 = 1) -> Outcome {
    var outcome = self
    outcome.counts[name, default: 0] += count
    return outcome
  }

  /// The same, with a record for another topic.
  public func writing(_ record: OutputRecord) -> Outcome {
    var outcome = self
    outcome.records.append(record)
    return outcome
  }
}

/// A record that is no event, written in the outcome's transaction.
public struct OutputRecord: Sendable, Hashable {
  /// The topic's name without the deployment's prefix.
  public var topic: String
  /// The key.
  public var key: String
  /// The value; nil is a tombstone.
  public var value: [UInt8]?
  /// `content-type` of the value.
  public var contentType: String?

  /// A record.
  public init(topic: String, key: String, value: [UInt8]?, contentType: String? = "application/json") {
    self.topic = topic
    self.key = key
    self.value = value
    self.contentType = contentType
  }
}
