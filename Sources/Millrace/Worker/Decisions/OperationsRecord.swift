// Operators' commands and what became of them, as records of `millrace.operations`: JSON, the item as key.

package import AppStore
package import Kafka

/// Something an operator wants done to one item of one worker.
package struct OperationCommand: Sendable, Hashable {
  /// What is to be done.
  package enum Action: Sendable, Hashable {
    /// Try a dead letter again.
    case requeue
    /// Leave a dead letter for good.
    case discard
    /// Send records of one partition again.
    case replay(ReplayPart)
  }

  /// Instead of a worker's name: the command is carried out by the program that gave it.
  package static let noWorker = ""

  /// Names the command: a UUID its author made.
  package var id: String
  /// The run it is part of; nil: it stands for itself.
  package var run: String?
  /// What it is about, one command for each: ``OperationCommand/deadLetter(lane:offset:)`` or the command's own id.
  package var item: String
  /// Whose lane executes it.
  package var worker: String
  /// The lane.
  package var lane: Int32
  /// What is to be done.
  package var action: Action
  /// The operator's reason.
  package var why: String
  /// Who gave it.
  package var by: String
  /// When.
  package var at: Timestamp

  package init(
    id: String, run: String? = nil, item: String, worker: String, lane: Int32, action: Action, why: String, by: String,
    at: Timestamp
  ) {
    (self.id, self.run, self.item, self.worker, self.lane, self.action) = (id, run, item, worker, lane, action)
    (self.why, self.by, self.at) = (why, by, at)
  }

  /// The item that a dead letter is, by its place in the worker's dead-letter topic.
  package static func deadLetter(lane: Int32, offset: Int64) -> String { "dead-letters/\(lane)/\(offset)" }
}

/// What of one partition is sent again, and how.
package struct ReplayPart: Sendable, Hashable {
  /// The topic; its partition is the command's lane.
  package var topic: String
  /// The first offset.
  package var from: Int64
  /// The offset behind the last.
  package var to: Int64
  /// Whether handlers run again for what is done.
  package var isReapply = false
  /// Which of the records between.
  package var selection = RecordSelection()
  /// Records a second of the whole run at most; nil: as fast as it goes.
  package var rate: Int?
  /// How many parts the run has.
  package var parts = 1
  /// The topic that the copies go to, where it is no worker's.
  package var target: String?

  /// Records `from..<to`.
  package init(topic: String, from: Int64, to: Int64, isReapply: Bool = false) {
    (self.topic, self.from, self.to, self.isReapply) = (topic, from, to, isReapply)
  }
}

/// An operator's word about a whole run.
package struct RunControl: Sendable, Hashable {
  /// What is to become of it.
  package enum Verb: String, Sendable, Hashable, CaseIterable {
    /// Wait.
    case pause
    /// Go on.
    case resume
    /// End where it stands. The last word.
    case stop
  }

  /// The run.
  package var run: String
  /// What is to become of it.
  package var verb: Verb
  /// Who said so.
  package var by: String
  /// When.
  package var at: Timestamp

  package init(run: String, _ verb: Verb, by: String, at: Timestamp) {
    (self.run, self.verb, self.by, self.at) = (run, verb, by, at)
  }
}

/// What became of a command; written by the lane's owner together with what it did.
package struct OperationResult: Sendable, Hashable {
  /// How far it is.
  package enum Outcome: Sendable, Hashable {
    /// A replay went that far; the next offset to send.
    case progress(next: Int64)
    /// Done.
    case done
    /// An operator ended it before this offset.
    case stopped(next: Int64)
    /// It cannot be done; says why.
    case failed(String)
  }

  /// The command.
  package var command: String
  /// Its item.
  package var item: String
  /// Its worker.
  package var worker: String
  /// How far it is.
  package var outcome: Outcome
  /// How many records a replay has sent so far.
  package var sent: Int64 = 0
  /// When.
  package var at: Timestamp

  package init(_ command: OperationCommand, _ outcome: Outcome, sent: Int64 = 0, at: Timestamp) {
    (self.command, item, worker) = (command.id, command.item, command.worker)
    (self.outcome, self.sent, self.at) = (outcome, sent, at)
  }
}

/// One record of the topic.
package enum OperationsRecord: Sendable, Hashable {
  case command(OperationCommand)
  case result(OperationResult)
  case control(RunControl)

  /// The record's key.
  package var key: [UInt8] {
    switch self {
    case .command(let command): Array("\(command.worker)/\(command.item)".utf8)
    case .result(let result): Array("\(result.worker)/\(result.item)".utf8)
    case .control(let control): Array("runs/\(control.run)".utf8)
    }
  }

  /// The record's value.
  package var json: JSON {
    switch self {
    case .command(let command): .object(command.members)
    case .result(let result): .object(result.members)
    case .control(let control): .object(control.members)
    }
  }

  /// The record for Kafka.
  package func producerRecord(_ topic: String) -> ProducerRecord {
    ProducerRecord(
      topic: topic, partition: 0, key: key, value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Reads a record; nil for anything else: the topic is for people, too.
  package init?(_ record: ConsumerRecord) {
    guard let value = record.value, let json = try? JSON(parsing: value) else { return nil }
    self.init(json)
  }

  /// Reads a record, for those who tell of what they pass over; nil for a tombstone.
  /// - Throws: ``UnreadableRecord`` for anything else than a command, a result or a word about a run.
  package static func read(_ record: ConsumerRecord) throws(UnreadableRecord) -> OperationsRecord? {
    guard let value = record.value else { return nil }
    let json: JSON
    do { json = try JSON(parsing: value) } catch { throw UnreadableRecord("no JSON: \(error)") }
    guard let operation = OperationsRecord(json) else {
      throw UnreadableRecord("neither a command nor a result nor a word about a run")
    }
    return operation
  }

  /// Reads a record's value; nil for anything else: the topic is for people, too.
  package init?(_ json: JSON) {
    guard case .object(let object) = json else { return nil }
    if let command = OperationCommand(object) {
      self = .command(command)
    } else if let result = OperationResult(object) {
      self = .result(result)
    } else if let control = RunControl(object) {
      self = .control(control)
    } else {
      return nil
    }
  }
}

extension OperationCommand {
  fileprivate init?(_ object: JSONObject) {
    guard let id = object.text("command"), let item = object.text("item"), let worker = object.text("worker"),
      let lane = object.number("lane").flatMap({ Int32(exactly: $0) }), let name = object.text("action"),
      let at = object.number("at")
    else { return nil }
    switch name {
    case "requeue": action = .requeue
    case "discard": action = .discard
    case "replay", "reapply":
      guard let part = ReplayPart(object, isReapply: name == "reapply") else { return nil }
      action = .replay(part)
    default: return nil
    }
    (self.id, self.run, self.item, self.worker, self.lane) = (id, object.text("run"), item, worker, lane)
    why = object.text("why") ?? ""
    by = object.text("by") ?? ""
    self.at = Timestamp(millisecondsSince1970: at)
  }

  fileprivate var members: JSONObject {
    var object: JSONObject = [
      "command": .string(id), "item": .string(item), "worker": .string(worker), "lane": .integer(Int64(lane)),
    ]
    switch action {
    case .requeue: object["action"] = "requeue"
    case .discard: object["action"] = "discard"
    case .replay(let part):
      object["action"] = part.isReapply ? "reapply" : "replay"
      object.members += part.members
    }
    object["run"] = run.map { .string($0) }
    object["why"] = .string(why)
    object["by"] = .string(by)
    object["at"] = .integer(at.millisecondsSince1970)
    return object
  }
}

extension ReplayPart {
  fileprivate init?(_ object: JSONObject, isReapply: Bool) {
    guard let topic = object.text("topic"), let from = object.number("from"), let to = object.number("to"),
      from >= 0, to >= from
    else { return nil }
    self.init(topic: topic, from: from, to: to, isReapply: isReapply)
    rate = object.number("rate").flatMap { Int(exactly: $0) }
    parts = object.number("parts").flatMap { Int(exactly: $0) } ?? 1
    target = object.text("target")
    // A choice that is not understood must not become none at all.
    if let json = object["selection"] {
      guard case .object(let chosen) = json, let selection = RecordSelection(chosen) else { return nil }
      self.selection = selection
    }
  }

  fileprivate var members: [JSONObject.Member] {
    var object: JSONObject = ["topic": .string(topic), "from": .integer(from), "to": .integer(to)]
    if selection != RecordSelection() { object["selection"] = .object(selection.json) }
    object["rate"] = rate.map { .integer(Int64($0)) }
    if parts != 1 { object["parts"] = .integer(Int64(parts)) }
    object["target"] = target.map { .string($0) }
    return object.members
  }
}

extension RunControl {
  fileprivate init?(_ object: JSONObject) {
    guard let run = object.text("run"), let verb = object.text("control").flatMap({ Verb(rawValue: $0) }),
      let at = object.number("at")
    else { return nil }
    self.init(run: run, verb, by: object.text("by") ?? "", at: Timestamp(millisecondsSince1970: at))
  }

  fileprivate var members: JSONObject {
    [
      "run": .string(run), "control": .string(verb.rawValue), "by": .string(by),
      "at": .integer(at.millisecondsSince1970),
    ]
  }
}

extension OperationResult {
  fileprivate init?(_ object: JSONObject) {
    guard let command = object.text("command"), let item = object.text("item"), let worker = object.text("worker"),
      let name = object.text("outcome"), let at = object.number("at")
    else { return nil }
    switch name {
    case "done": outcome = .done
    case "failed": outcome = .failed(object.text("detail") ?? "")
    case "progress":
      guard let next = object.number("next") else { return nil }
      outcome = .progress(next: next)
    case "stopped":
      guard let next = object.number("next") else { return nil }
      outcome = .stopped(next: next)
    default: return nil
    }
    sent = object.number("sent") ?? 0
    (self.command, self.item, self.worker) = (command, item, worker)
    self.at = Timestamp(millisecondsSince1970: at)
  }

  fileprivate var members: JSONObject {
    var object: JSONObject = ["command": .string(command), "item": .string(item), "worker": .string(worker)]
    switch outcome {
    case .done: object["outcome"] = "done"
    case .failed(let detail):
      object["outcome"] = "failed"
      object["detail"] = .string(detail)
    case .progress(let next):
      object["outcome"] = "progress"
      object["next"] = .integer(next)
    case .stopped(let next):
      object["outcome"] = "stopped"
      object["next"] = .integer(next)
    }
    if sent > 0 { object["sent"] = .integer(sent) }
    object["at"] = .integer(at.millisecondsSince1970)
    return object
  }
}
