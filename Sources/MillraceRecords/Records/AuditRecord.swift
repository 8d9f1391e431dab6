// The audit trail: `millrace.audit` has one record for the start of each action and one for the end of each of its
// parts. A part is the work of one process, such as a lane of a replay or a whole backfill. If the log has
// transactions, the end is written in the same transaction as the last piece of work.

package import AppStore
package import KafkaClient

/// An audit record of an operator's action.
package struct AuditRecord: Sendable, Hashable {
  /// The kind of action. Later versions may add kinds.
  package struct Action: RawRepresentable, Sendable, Hashable {
    /// The kind's name in the record.
    package var rawValue: String
    /// Creates an action from its name.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Whether the action controls a run of another action. It can be repeated for the same run.
    package var isControl: Bool { [.pause, .resume, .stop].contains(self) }

    /// Records were sent again. Handled notifications are skipped.
    package static let replay = Action(rawValue: "replay")
    /// Records were sent again, and handlers run again.
    package static let reapply = Action(rawValue: "reapply")
    /// Dead letters were sent to the worker again.
    package static let requeue = Action(rawValue: "requeue")
    /// Dead letters were discarded.
    package static let discard = Action(rawValue: "discard")
    /// Customers were erased.
    package static let erase = Action(rawValue: "erase")
    /// Notifications were fetched from Apple's history.
    package static let backfill = Action(rawValue: "backfill")
    /// A mass extension of renewal dates was requested.
    package static let campaignStart = Action(rawValue: "campaign-start")
    /// A mass extension whose start was interrupted was requested again, or found at Apple.
    package static let campaignResume = Action(rawValue: "campaign-resume")
    /// A mass extension that another tool had started was registered.
    package static let campaignAdopt = Action(rawValue: "campaign-adopt")
    /// The subscription of one customer was extended.
    package static let extend = Action(rawValue: "extend")
    /// Failures were assigned to a mass extension.
    package static let campaignResolve = Action(rawValue: "campaign-resolve")
    /// The retries of a mass extension were cancelled.
    package static let campaignCancel = Action(rawValue: "campaign-cancel")
    /// Apple was asked about customers from before Millrace.
    package static let importRequest = Action(rawValue: "import")
    /// Apple was asked for refunds without a notification.
    package static let refundCheck = Action(rawValue: "refund-check")
    /// Quarantined bodies were verified again, and those now admitted were written.
    package static let resubmit = Action(rawValue: "resubmit")
    /// Topics were created or altered.
    package static let topicsApply = Action(rawValue: "topics-apply")
    /// A run was paused.
    package static let pause = Action(rawValue: "pause")
    /// A run was resumed.
    package static let resume = Action(rawValue: "resume")
    /// A run was stopped.
    package static let stop = Action(rawValue: "stop")
  }

  /// The phase of an action.
  package enum Phase: Sendable, Hashable {
    /// The action started; it has this number of parts.
    case started(parts: Int)
    /// A part ended.
    case ended(part: String, result: Result, counts: [Count])
  }

  /// The result of a part.
  package struct Result: Sendable, Hashable {
    /// The result's name. Later versions may add names.
    package var rawValue: String
    /// Details of the result.
    package var detail: String?
    /// Creates a result from its name.
    package init(rawValue: String, detail: String? = nil) {
      self.rawValue = rawValue
      self.detail = detail
    }

    /// All of the part was done.
    package static let done = Result(rawValue: "done")
    /// An operator stopped the run.
    package static let stopped = Result(rawValue: "stopped")
    /// The part failed.
    package static func failed(_ detail: String) -> Result { Result(rawValue: "failed", detail: detail) }
  }

  /// A count of items.
  package struct Count: Sendable, Hashable {
    /// The name of the count, one lower-case word: `sent`, `published`.
    package var name: String
    /// The number of items.
    package var count: Int64
    /// Creates a count.
    package init(_ name: String, _ count: Int64) {
      self.name = name
      self.count = count
    }
  }

  /// The name of the part that is the whole action. Its end ends the action, even if other parts are missing.
  package static let everything = "everything"

  /// The CloudEvents attribute that names the run which wrote a record to a topic that workers read. Workers ignore it.
  package static let runAttribute = "runid"
  /// The header of ``runAttribute``.
  package static let runHeader = "ce_runid"

  /// The topic's name, without the prefix.
  package static let topic = "millrace.audit"
  /// The prefix of `ce_type`, before `started` or `ended`.
  package static let typePrefix = "dev.millrace.audit."

  /// The run's id, which is the record's key.
  package var run: String
  /// The kind of action.
  package var action: Action
  /// The phase.
  package var phase: Phase
  /// The operator who requested the action.
  package var by: String
  /// The program that wrote the record, such as `millrace`, `millrace-console` or, for a worker, `millrace/winback`.
  package var source: String
  /// The time of the phase.
  package var at: Timestamp
  /// The operator's reason; nil if none was given.
  package var why: String?
  /// The target: a worker, a topic or a run; nil if there is none.
  package var target: String?
  /// The command's selection of records or notifications; nil if the action has none.
  package var selection: JSONObject?

  /// Creates an audit record.
  package init(
    run: String, _ action: Action, _ phase: Phase, by: String, source: String, at: Timestamp, why: String? = nil,
    target: String? = nil, selection: JSONObject? = nil
  ) {
    (self.run, self.action, self.phase, self.by, self.source, self.at) = (run, action, phase, by, source, at)
    (self.why, self.target, self.selection) = (why, target, selection)
  }

  /// The action's name in the trail. A run starts once and can have any number of control actions.
  package var name: String {
    action.isControl ? "\(run)/\(action.rawValue)/\(at.millisecondsSince1970)" : "\(run)/\(action.rawValue)"
  }

  /// The record's unique id. Readers ignore a second record with the same id.
  package var id: String {
    switch phase {
    case .started: "\(name)/started"
    case .ended(let part, _, _): "\(name)/ended/\(part)"
    }
  }

  /// Returns the Kafka record: a CloudEvent in binary mode with JSON data.
  package func producerRecord(prefix: String) -> ProducerRecord {
    let name = if case .started = phase { "started" } else { "ended" }
    let event = CloudEvent(
      id: id, source: source, type: Self.typePrefix + name, subject: run, time: at, contentType: "application/json")
    return ProducerRecord(
      topic: prefix + Self.topic, partition: 0, key: Array(run.utf8), value: JSON.object(json).serialized(),
      headers: event.headers)
  }

  /// The record's value.
  package var json: JSONObject {
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

  /// Creates an audit record from a Kafka record; nil if it is not one.
  package init?(_ record: ConsumerRecord) {
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
  /// Returns a text member.
  package func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { return text }
    return nil
  }

  /// Returns an integer member.
  package func number(_ name: String) -> Int64? {
    if case .integer(let number)? = self[name] { return number }
    return nil
  }
}
