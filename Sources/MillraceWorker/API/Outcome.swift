// The result of a handler. A value: the runtime writes everything that it contains in one transaction.

public import AppStore
package import KafkaClient

/// The result of a handler: a decision, and the timers and records to write with it.
///
/// ``Results`` are part of the decision `done`, so no other decision can lose them.
public struct Outcome: Sendable {
  /// The decision about the notification.
  public enum Decision: Sendable, Hashable {
    /// The notification is handled. Its results are written.
    case done(Results)
    /// The worker retries the notification after this delay, counted from now. It uses the retry topic with the longest
    /// delay that fits, and then the next one for the rest. Nil: the next delay of the retry schedule. `reason` is a
    /// stable code in lower case with hyphens; `detail` says what happened, for the operator.
    case retry(after: Duration?, reason: String, detail: String)
    /// The notification becomes a dead letter. `reason` is a stable code in lower case with hyphens; `detail` says what
    /// happened, for the operator.
    case deadLetter(reason: String, detail: String)
    /// The worker runs the handler again at this time, or later by at most the shortest retry delay. Nothing failed, so
    /// the run does not count as an attempt. `reason` is a stable code in lower case with hyphens.
    case wait(until: Timestamp, reason: String)
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

  /// The results of a handled notification.
  public struct Results: Sendable, Hashable {
    /// The events to publish, in order.
    public var events: [EncodedEvent] = []
    /// States to store.
    ///
    /// `--reapply` does not compare states. A state that differs from the stored one is written even if the events are
    /// equal.
    public var states: [State] = []
    /// Amounts to add to the lane's counters.
    ///
    /// Each notification is counted once, however often its handler runs. ``HandlerContext/tally(of:)`` returns the
    /// sums over all lanes.
    public var counts: [String: Int64] = [:]

    /// Creates empty results.
    public init() {}

    var isEmpty: Bool { events.isEmpty && states.isEmpty && counts.isEmpty }
  }

  /// The decision about the notification.
  public var decision: Decision
  /// Timers to set or cancel, whatever the decision is. In ``NotificationWorker/timerFired(_:in:)``, only with `done` and
  /// `deadLetter`.
  public var timers: [Timer] = []
  /// Records to write to other topics, for instance a compacted table, whatever the decision is. In
  /// ``NotificationWorker/timerFired(_:in:)``, only with `done` and `deadLetter`.
  public var records: [OutputRecord] = []

  /// The answer that led to the decision, for the log.
  package var answer: CallAnswer?
  /// The HTTP status with which a receiver accepted the message, for the ledger; nil if the worker delivered none.
  package var delivered: Int?

  /// Creates an outcome with a decision.
  public init(_ decision: Decision) { self.decision = decision }

  /// The results of a handled notification; nil for another decision.
  public var results: Results? {
    guard case .done(let results) = decision else { return nil }
    return results
  }

  /// Whether the outcome marks the notification as done and writes nothing else.
  var isIgnored: Bool { results?.isEmpty == true && timers.isEmpty && records.isEmpty }

  /// The notification needs no action.
  public static var ignore: Outcome { .done(Results()) }

  /// The notification is handled: publishes its events, stores its states and adds its counts.
  ///
  /// ```swift
  /// return .done(try .emitting(event).keeping("renewals/\(notification.key)", count))
  /// ```
  public static func done(_ results: Results) -> Outcome { Outcome(.done(results)) }

  /// The notification is handled and leads to these events, in order.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public static func emit<each Event: WorkerEvent>(_ event: repeat each Event) throws -> Outcome {
    .done(try .emitting(repeat each event))
  }

  /// Retries the notification later. This counts as an attempt.
  /// - Parameters:
  ///   - delay: The delay from now. The shortest retry delay is the minimum. Nil: the next delay of the retry schedule.
  ///   - reason: The code for metrics and for a later dead letter: lower case with hyphens, from a closed set.
  ///   - detail: What happened, for the operator. Nil: the reason.
  public static func retry(
    after delay: Duration? = nil, because reason: String, detail: String? = nil
  ) -> Outcome {
    Outcome(.retry(after: delay, reason: reason, detail: detail ?? reason))
  }

  /// Runs the handler again later, without counting an attempt: nothing failed, but the time has not come. An example is
  /// another system that asks its callers to wait.
  /// - Parameters:
  ///   - time: The earliest time of the next run. The shortest retry delay from now is the minimum.
  ///   - reason: The code for metrics: lower case with hyphens, from a closed set.
  public static func wait(until time: Timestamp, because reason: String) -> Outcome {
    Outcome(.wait(until: time, reason: reason))
  }

  /// Moves the notification to the dead letters, where an operator decides what to do with it.
  /// - Parameters:
  ///   - reason: The code: lower case with hyphens, from a closed set.
  ///   - detail: What happened, for the operator.
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

  /// Returns a copy that also writes a record to another topic.
  public func writing(_ record: OutputRecord) -> Outcome {
    var outcome = self
    outcome.records.append(record)
    return outcome
  }
}

extension Outcome.Results {
  /// Returns results with these events, in order.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public static func emitting<each Event: WorkerEvent>(_ event: repeat each Event) throws -> Self {
    try Self().emitting(repeat each event)
  }

  /// Returns results with a state.
  public static func keeping(_ name: String, _ value: [UInt8]?, row: OutputRecord? = nil) -> Self {
    Self().keeping(name, value, row: row)
  }

  /// Returns results that add to a counter.
  public static func counting(_ name: String, by count: Int64 = 1) -> Self { Self().counting(name, by: count) }

  /// Returns a copy that also publishes these events, in order, after the others.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public func emitting<each Event: WorkerEvent>(_ event: repeat each Event) throws -> Self {
    var results = self
    for event in repeat each event { results.events.append(try EncodedEvent(event)) }
    return results
  }

  /// Returns a copy that also stores a state.
  /// - Parameter row: A record with the same content for other readers. List its topic in
  ///   ``NotificationWorker/outputTopics``. Its key is the notification's key, or the part of the state's name after
  ///   the last slash (the whole name if it has none). Otherwise the row stays when the customer is erased.
  public func keeping(_ name: String, _ value: [UInt8]?, row: OutputRecord? = nil) -> Self {
    var results = self
    results.states.append(Outcome.State(name: name, value: value, row: row))
    return results
  }

  /// Returns a copy that also adds to a counter.
  public func counting(_ name: String, by count: Int64 = 1) -> Self {
    var results = self
    results.counts[name, default: 0] += count
    return results
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
  /// More headers.
  package var headers: [RecordHeader] = []

  /// Creates a record.
  public init(topic: String, key: String, value: [UInt8]?, contentType: String? = "application/json") {
    self.topic = topic
    self.key = key
    self.value = value
    self.contentType = contentType
  }
}
