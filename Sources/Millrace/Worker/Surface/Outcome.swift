// The result of a handler. A value: the runtime writes everything that it contains in one transaction.

public import AppStore

/// The result of a handler: a decision, and the events, timers, states, records and counts to write with it.
public struct Outcome: Sendable {
  /// The decision about the notification.
  public enum Decision: Sendable, Hashable {
    /// The notification is handled. Its events are published.
    case done
    /// The worker retries the notification after this delay, counted from now. It uses the retry topic with the longest
    /// delay that fits, and then the next one for the rest.
    case retry(after: Duration, reason: String)
    /// The notification becomes a dead letter. `reason` is a stable code in lower case with hyphens; `detail` says what
    /// the operator should do.
    case deadLetter(reason: String, detail: String)
  }

  /// A timer that belongs to the lane and moves with it.
  public struct Timer: Sendable, Hashable {
    /// The timer's name, unique within the worker. Setting a timer again replaces its time and payload.
    public var name: String
    /// The time at which the timer fires. Nil cancels it.
    public var at: Timestamp?
    /// The bytes that the handler receives when the timer fires.
    public var payload: [UInt8]

    /// The maximum size of name and payload together, in bytes. The ledger stores both.
    public static let maximumBytes = 256 << 10

    /// Creates a timer.
    public init(name: String, at: Timestamp?, payload: [UInt8] = []) {
      self.name = name
      self.at = at
      self.payload = payload
    }
  }

  /// A small value that the worker stores for later notifications with the same key.
  public struct State: Sendable, Hashable {
    /// The name of the state within the worker, for instance `entitlement/<transactionId>`. Use a name only for
    /// notifications of one key: one lane processes these in order.
    public var name: String
    /// The value that ``HandlerContext/state(_:)`` returns from now on. Nil removes the state.
    public var value: [UInt8]?
    /// A record with the same content for other readers, for instance in a compacted topic. It is written whenever the
    /// value changes.
    public var row: OutputRecord?

    /// The maximum size of name and value together, in bytes. The ledger stores both, and the worker keeps them in
    /// memory while it owns the lane.
    public static let maximumBytes = 64 << 10
  }

  /// The decision about the notification.
  public var decision: Decision
  /// The events to publish, in order, if the decision is ``Decision/done``.
  public var events: [EncodedEvent] = []
  /// Timers to set or cancel, whatever the decision is.
  public var timers: [Timer] = []
  /// States to store if the decision is ``Decision/done``.
  ///
  /// `--reapply` does not compare states. A state that differs from the stored one is written even if the events are
  /// equal.
  public var states: [State] = []
  /// Records to write to other topics, for instance a compacted table, whatever the decision is.
  public var records: [OutputRecord] = []
  /// Amounts to add to the lane's counters if the decision is ``Decision/done``.
  ///
  /// Each notification is counted once, however often its handler runs. ``HandlerContext/tally(of:)`` returns the sums
  /// over all lanes.
  public var counts: [String: Int64] = [:]

  /// Creates an outcome with a decision.
  public init(_ decision: Decision) { self.decision = decision }

  /// Whether the outcome marks the notification as done and writes nothing else.
  var isIgnored: Bool {
    decision == .done && events.isEmpty && timers.isEmpty && states.isEmpty && records.isEmpty && counts.isEmpty
  }

  /// The notification needs no action.
  public static var ignore: Outcome { Outcome(.done) }

  /// Publishes events, in order.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public static func emit<each Event: WorkerEvent>(_ event: repeat each Event) throws -> Outcome {
    var outcome = Outcome(.done)
    for event in repeat each event { outcome.events.append(try EncodedEvent(event)) }
    return outcome
  }

  /// Retries the notification later.
  /// - Parameters:
  ///   - delay: The delay from now. The shortest retry delay is the minimum.
  ///   - reason: The code for metrics and for a later dead letter: lower case with hyphens.
  public static func retry(after delay: Duration, because reason: String) -> Outcome {
    Outcome(.retry(after: delay, reason: reason))
  }

  /// Moves the notification to the dead letters, where an operator decides what to do with it.
  public static func deadLetter(_ reason: String, _ detail: String) -> Outcome {
    Outcome(.deadLetter(reason: reason, detail: detail))
  }

  /// Returns a copy that also sets a timer.
  public func settingTimer(_ name: String, at time: Timestamp, payload: [UInt8] = []) -> Outcome {
    var outcome = self
    outcome.timers.append(Timer(name: name, at: time, payload: payload))
    return outcome
  }

  /// Returns a copy that also cancels a timer.
  public func cancellingTimer(_ name: String) -> Outcome {
    var outcome = self
    outcome.timers.append(Timer(name: name, at: nil))
    return outcome
  }

  /// Returns a copy that also stores a state.
  /// - Parameter row: A record with the same content for other readers. List its topic in
  ///   ``NotificationWorker/tables``.
  public func keeping(_ name: String, _ value: [UInt8]?, row: OutputRecord? = nil) -> Outcome {
    var outcome = self
    outcome.states.append(State(name: name, value: value, row: row))
    return outcome
  }

  /// Returns a copy that also adds to a counter.
  public func counting(_ name: String, by count: Int64 = 1) -> Outcome {
    var outcome = self
    outcome.counts[name, default: 0] += count
    return outcome
  }

  /// Returns a copy that also writes a record to another topic.
  public func writing(_ record: OutputRecord) -> Outcome {
    var outcome = self
    outcome.records.append(record)
    return outcome
  }
}

/// A record other than an event, written in the outcome's transaction.
public struct OutputRecord: Sendable, Hashable {
  /// The topic's name without the deployment's prefix.
  public var topic: String
  /// The record's key.
  public var key: String
  /// The record's value. Nil writes a tombstone.
  public var value: [UInt8]?
  /// The value's media type, written as the header `content-type`.
  public var contentType: String?

  /// Creates a record.
  public init(topic: String, key: String, value: [UInt8]?, contentType: String? = "application/json") {
    self.topic = topic
    self.key = key
    self.value = value
    self.contentType = contentType
  }
}
