// Operators' commands and their results, as records of `millrace.operations`: JSON, with the item as key.

package import AppStore
package import KafkaClient
internal import MillraceCore
package import MillraceRecords

/// An operator's command for one item of one worker.
package struct OperationCommand: Sendable, Hashable {
  /// The action to perform.
  package enum Action: Sendable, Hashable {
    /// Retry a dead letter.
    case requeue
    /// Discard a dead letter permanently.
    case discard
    /// Send records of one partition again.
    case replay(ReplayPart)
    /// Erase a customer. The customer's key is encrypted (`ErasureKey.seal`), because commands are kept for a year.
    case erase(customer: String)
  }

  /// The value of ``worker`` if the program that issued the command executes it itself.
  package static let noWorker = ""

  /// A UUID that the author of the command generated.
  package var id: String
  /// The run that the command belongs to; nil for a single command.
  package var run: String?
  /// The item that the command is for: ``OperationCommand/deadLetter(lane:offset:)`` or the command's own id. At most
  /// one command is executed for each item.
  package var item: String
  /// The worker whose lane executes the command.
  package var worker: String
  package var lane: Int32
  package var action: Action
  /// The operator's reason.
  package var why: String
  /// The operator who issued the command.
  package var by: String
  /// The time when the command was issued.
  package var at: Timestamp

  package init(
    id: String, run: String? = nil, item: String, worker: String, lane: Int32, action: Action, why: String, by: String,
    at: Timestamp
  ) {
    (self.id, self.run, self.item, self.worker, self.lane, self.action) = (id, run, item, worker, lane, action)
    (self.why, self.by, self.at) = (why, by, at)
  }

  /// Returns the item of an erasure. A customer who came back can be erased again.
  /// - Parameter mark: The customer's mark.
  package static func erasure(of mark: [UInt8], command id: String) -> String { "erasures/\(Hex.text(mark))/\(id)" }

  /// The mark of the customer that an erasure names; nil for other items.
  package var erasedMark: [UInt8]? {
    let parts = item.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "erasures" else { return nil }
    return Hex.bytes(Array(parts[1].utf8))
  }

  /// Returns the item of a dead letter, from its position in the worker's dead-letter topic.
  package static func deadLetter(lane: Int32, offset: Int64) -> String { "dead-letters/\(lane)/\(offset)" }
}

/// The records of one partition to send again, and how.
package struct ReplayPart: Sendable, Hashable {
  /// The topic. Its partition is the command's lane.
  package var topic: String
  /// The first offset.
  package var from: Int64
  /// The offset after the last record.
  package var to: Int64
  /// Whether handlers run again for notifications that are done.
  package var isReapply = false
  /// The filter for records in the range.
  package var selection = RecordSelection()
  /// The maximum rate of the whole run in records per second; nil means no limit.
  package var rate: Int?
  /// The number of parts of the run.
  package var parts = 1
  /// The topic to copy the records to, if that is not a worker's replay topic.
  package var target: String?
  /// The last record of the part. By it, the part recognizes its topic when it begins and when it continues. Nil if
  /// unknown.
  package var last: RecordFingerprint?

  /// Creates a part with the records `from..<to`.
  package init(topic: String, from: Int64, to: Int64, isReapply: Bool = false) {
    (self.topic, self.from, self.to, self.isReapply) = (topic, from, to, isReapply)
  }
}

/// An operator's instruction for a run that another process carries out.
package enum RunVerb: String, Sendable, Hashable, CaseIterable {
  case pause
  case resume
  /// End the run where it is. This cannot be reversed.
  case stop

  /// The action in the audit trail.
  package var action: AuditRecord.Action { AuditRecord.Action(rawValue: rawValue) }

  /// The participle, as in "stopped by".
  package var participle: String {
    switch self {
    case .pause: "paused"
    case .resume: "resumed"
    case .stop: "stopped"
    }
  }
}

/// The record of an instruction.
package struct RunControl: Sendable, Hashable {
  package var run: String
  package var verb: RunVerb
  /// The operator who gave the instruction.
  package var by: String
  /// The time when the instruction was given.
  package var at: Timestamp

  package init(run: String, _ verb: RunVerb, by: String, at: Timestamp) {
    (self.run, self.verb, self.by, self.at) = (run, verb, by, at)
  }
}

/// The result of a command. The owner of the lane writes it in the same transaction as the command's effect.
package struct OperationResult: Sendable, Hashable {
  /// The progress of the command.
  package enum Outcome: Sendable, Hashable {
    /// A replay has come this far. `next` is the next offset to send.
    case progress(next: Int64)
    /// The command is executed.
    case done
    /// An operator ended the replay before this offset.
    case stopped(next: Int64)
    /// The command cannot be executed, for the given reason.
    case failed(String)
  }

  package var command: String
  package var item: String
  package var worker: String
  package var outcome: Outcome
  /// The number of records that a replay has sent so far.
  package var sent: Int64 = 0
  /// The time when the result was written.
  package var at: Timestamp

  package init(_ command: OperationCommand, _ outcome: Outcome, sent: Int64 = 0, at: Timestamp) {
    (self.command, item, worker) = (command.id, command.item, command.worker)
    (self.outcome, self.sent, self.at) = (outcome, sent, at)
  }
}

/// A record of the operations topic.
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

  /// Returns the record to write to Kafka.
  package func producerRecord(_ topic: String) -> ProducerRecord {
    ProducerRecord(
      topic: topic, partition: 0, key: key, value: json.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  /// Reads a record. Nil for anything else, because people may write to the topic too.
  package init?(_ record: ConsumerRecord) {
    guard let value = record.value, let json = try? JSON(parsing: value) else { return nil }
    self.init(json)
  }

  /// Reads a record for callers that report unreadable records. Nil for a tombstone.
  /// - Throws: ``UnreadableRecord`` if the record is not a command, a result or a run control.
  package static func read(_ record: ConsumerRecord) throws(UnreadableRecord) -> OperationsRecord? {
    guard let value = record.value else { return nil }
    let json: JSON
    do { json = try JSON(parsing: value) } catch { throw UnreadableRecord("the value is not valid JSON: \(error)") }
    guard let operation = OperationsRecord(json) else {
      throw UnreadableRecord("the value is not a command, a result or a run control")
    }
    return operation
  }

  /// Reads a record's value. Nil for anything else, because people may write to the topic too.
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
    case "erase":
      guard let customer = object.text("customer") else { return nil }
      action = .erase(customer: customer)
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
    case .erase(let customer):
      object["action"] = "erase"
      object["customer"] = .string(customer)
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
    if let text = object.text("last") {
      guard let last = RecordFingerprint(text[...]) else { return nil }
      self.last = last
    }
    // A selection that cannot be read must not be treated as no selection, which would select every record.
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
    object["last"] = last.map { .string($0.text) }
    return object.members
  }
}

extension RunControl {
  fileprivate init?(_ object: JSONObject) {
    guard let run = object.text("run"), let verb = object.text("control").flatMap({ RunVerb(rawValue: $0) }),
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
