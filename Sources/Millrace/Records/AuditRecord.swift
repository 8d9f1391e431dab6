// Who did what: one record of `millrace.audit` for the beginning of each action, one for the end of each of its parts.
// A part is what one process does alone (a lane of a replay, all of a backfill), and its end is written together with the
// last thing it did where the log has transactions.

public import AppStore
public import Kafka

/// Something that was done on an operator's word.
public struct AuditRecord: Sendable, Hashable {
  /// What was done; new words may come.
  public struct Action: RawRepresentable, Sendable, Hashable {
    /// The word in the record.
    public var rawValue: String
    /// An action by its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Whether it is said about a run of something else; the same may be said of one run again.
    public var isWord: Bool { [.pause, .resume, .stop].contains(self) }

    /// Records were sent again; what is handled stays handled.
    public static let replay = Action(rawValue: "replay")
    /// Records were sent again, for handlers to run again.
    public static let reapply = Action(rawValue: "reapply")
    /// Dead letters were tried again.
    public static let requeue = Action(rawValue: "requeue")
    /// Dead letters were put aside for good.
    public static let discard = Action(rawValue: "discard")
    /// Notifications were fetched from Apple's history.
    public static let backfill = Action(rawValue: "backfill")
    /// A run was told to wait.
    public static let pause = Action(rawValue: "pause")
    /// A run was told to go on.
    public static let resume = Action(rawValue: "resume")
    /// A run was told to end.
    public static let stop = Action(rawValue: "stop")
  }

  /// What of it is told.
  public enum Phase: Sendable, Hashable {
    /// It begins, and will have so many ends.
    case started(parts: Int)
    /// A part is over.
    case ended(part: String, result: Result, counts: [Count])
  }

  /// How a part ended.
  public struct Result: Sendable, Hashable {
    /// The word; new ones may come.
    public var rawValue: String
    /// What there is to say about it.
    public var detail: String?
    /// A result by its word.
    public init(rawValue: String, detail: String? = nil) {
      self.rawValue = rawValue
      self.detail = detail
    }

    /// All of it was done.
    public static let done = Result(rawValue: "done")
    /// An operator ended it.
    public static let stopped = Result(rawValue: "stopped")
    /// It could not be done.
    public static func failed(_ detail: String) -> Result { Result(rawValue: "failed", detail: detail) }
  }

  /// How many of something.
  public struct Count: Sendable, Hashable {
    /// Of what, one lower-case word: `sent`, `published`.
    public var name: String
    /// How many.
    public var count: Int64
    /// A count.
    public init(_ name: String, _ count: Int64) {
      self.name = name
      self.count = count
    }
  }

  /// The part that is everything: with its end the action is over, whichever other parts there were to be.
  public static let everything = "everything"

  /// The topic's name, before the prefix.
  public static let topic = "millrace.audit"
  /// What `ce_type` begins with; `started` or `ended` follows.
  public static let typePrefix = "dev.millrace.audit."

  /// Names the action: the run's id, and the record's key.
  public var run: String
  /// What is done.
  public var action: Action
  /// What of it is told.
  public var phase: Phase
  /// Who asked for it.
  public var by: String
  /// Which program wrote this, such as `millrace`, `millrace-console` or `millrace/winback` for a worker.
  public var source: String
  /// When this happened.
  public var at: Timestamp
  /// Why, in the words of who asked; nil: not said.
  public var why: String?
  /// To what it is done: a worker, a topic, a run; nil: nothing to name.
  public var target: String?
  /// Which records or notifications, as the command's own selection says it; nil: the action has none.
  public var selection: JSONObject?

  /// What was done.
  public init(
    run: String, _ action: Action, _ phase: Phase, by: String, source: String, at: Timestamp, why: String? = nil,
    target: String? = nil, selection: JSONObject? = nil
  ) {
    (self.run, self.action, self.phase, self.by, self.source, self.at) = (run, action, phase, by, source, at)
    (self.why, self.target, self.selection) = (why, target, selection)
  }

  /// Names the action in the trail: a run has one beginning, and as many words as are said about it.
  public var name: String {
    action.isWord ? "\(run)/\(action.rawValue)/\(at.millisecondsSince1970)" : "\(run)/\(action.rawValue)"
  }

  /// What makes the record unique: written twice, it counts once.
  public var id: String {
    switch phase {
    case .started: "\(name)/started"
    case .ended(let part, _, _): "\(name)/ended/\(part)"
    }
  }

  /// The record for Kafka: a CloudEvent in binary mode with JSON as its data.
  public func producerRecord(prefix: String) -> ProducerRecord {
    let name = if case .started = phase { "started" } else { "ended" }
    let event = CloudEvent(
      id: id, source: source, type: Self.typePrefix + name, subject: run, time: at, contentType: "application/json")
    return ProducerRecord(
      topic: prefix + Self.topic, partition: 0, key: Array(run.utf8), value: JSON.object(json).serialized(),
      headers: event.headers)
  }

  /// The record's value.
  public var json: JSONObject {
    var json: JSONObject = ["run": .string(run), "action": .string(action.rawValue)]
    switch phase {
    case .started(let parts):
      json["phase"] = "started"
      json["parts"] = .integer(Int64(parts))
    case .ended(let part, let result, let counts):
      json["phase"] = "ended"
      json["part"] = .string(part)
      json["result"] = .string(result.rawValue)
      json["detail"] = result.detail.map { .string($0) }
      json["counts"] = .object(
        JSONObject(counts.map { JSONObject.Member(key: $0.name, value: .integer($0.count)) }))
    }
    json["by"] = .string(by)
    json["at"] = .string(at.rfc3339)
    json["why"] = why.map { .string($0) }
    json["target"] = target.map { .string($0) }
    json["selection"] = selection.map { .object($0) }
    return json
  }

  /// Reads such a record; nil for anything else.
  public init?(_ record: ConsumerRecord) {
    guard let value = record.value, let parsed = try? JSON(parsing: value), case .object(let json) = parsed,
      let run = json.text("run"), let action = json.text("action"), let by = json.text("by"),
      let at = json.text("at").flatMap({ Timestamp(rfc3339: $0) }), let phase = Phase(json)
    else { return nil }
    let source = record.headers.last { $0.name == "ce_source" }?.value.map { String(decoding: $0, as: UTF8.self) }
    self.init(
      run: run, Action(rawValue: action), phase, by: by, source: source ?? "", at: at, why: json.text("why"),
      target: json.text("target"))
    if case .object(let selection)? = json["selection"] { self.selection = selection }
  }
}

extension AuditRecord.Phase {
  fileprivate init?(_ json: JSONObject) {
    switch json.text("phase") {
    case "started":
      guard let parts = json.number("parts").flatMap({ Int(exactly: $0) }) else { return nil }
      self = .started(parts: parts)
    case "ended":
      guard let part = json.text("part"), let result = json.text("result") else { return nil }
      var counts: [AuditRecord.Count] = []
      if case .object(let members)? = json["counts"] {
        for member in members.members {
          if case .integer(let count) = member.value { counts.append(AuditRecord.Count(member.key, count)) }
        }
      }
      self = .ended(
        part: part, result: AuditRecord.Result(rawValue: result, detail: json.text("detail")), counts: counts)
    default: return nil
    }
  }
}

extension JSONObject {
  /// A member that is text.
  func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { return text }
    return nil
  }

  /// A member that is an integer.
  func number(_ name: String) -> Int64? {
    if case .integer(let number)? = self[name] { return number }
    return nil
  }
}
