// Operators' commands and what became of them, as records of `millrace.operations`: JSON, the item as key.

package import AppStore

/// Something an operator wants done to one item of one worker.
package struct OperationCommand: Sendable, Hashable {
  /// What is to be done.
  package enum Action: Sendable, Hashable {
    /// Try a dead letter again.
    case requeue
    /// Leave a dead letter for good.
    case discard
    /// Send records `from..<to` of the lane's partition of a topic to the worker again.
    case replay(topic: String, from: Int64, to: Int64, isReapply: Bool)
  }

  /// Names the command: a UUID its author made.
  package var id: String
  /// What it is about, one command for each: ``OperationCommand/deadLetter(lane:offset:)`` or the id of a replay.
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
    id: String, item: String, worker: String, lane: Int32, action: Action, why: String, by: String, at: Timestamp
  ) {
    (self.id, self.item, self.worker, self.lane, self.action) = (id, item, worker, lane, action)
    (self.why, self.by, self.at) = (why, by, at)
  }

  /// The item that a dead letter is, by its place in the worker's dead-letter topic.
  package static func deadLetter(lane: Int32, offset: Int64) -> String { "dead-letters/\(lane)/\(offset)" }
}

/// What became of a command; written by the lane's owner together with what it did.
package struct OperationResult: Sendable, Hashable {
  /// How far it is.
  package enum Outcome: Sendable, Hashable {
    /// A replay went that far; the next offset to send.
    case progress(next: Int64)
    /// Done.
    case done
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
  /// When.
  package var at: Timestamp
}

/// One record of the topic.
package enum OperationsRecord: Sendable, Hashable {
  case command(OperationCommand)
  case result(OperationResult)

  /// The record's key.
  package var key: [UInt8] {
    switch self {
    case .command(let command): Array("\(command.worker)/\(command.item)".utf8)
    case .result(let result): Array("\(result.worker)/\(result.item)".utf8)
    }
  }

  /// The record's value.
  package var json: JSON {
    switch self {
    case .command(let command): .object(command.members)
    case .result(let result): .object(result.members)
    }
  }

  /// Reads a record's value; nil for anything else: the topic is for people, too.
  package init?(_ json: JSON) {
    guard case .object(let object) = json else { return nil }
    if let command = OperationCommand(object) {
      self = .command(command)
    } else if let result = OperationResult(object) {
      self = .result(result)
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
      guard let topic = object.text("topic"), let from = object.number("from"), let to = object.number("to"),
        from >= 0, to >= from
      else { return nil }
      action = .replay(topic: topic, from: from, to: to, isReapply: name == "reapply")
    default: return nil
    }
    (self.id, self.item, self.worker, self.lane) = (id, item, worker, lane)
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
    case .replay(let topic, let from, let to, let isReapply):
      object["action"] = isReapply ? "reapply" : "replay"
      object["topic"] = .string(topic)
      object["from"] = .integer(from)
      object["to"] = .integer(to)
    }
    object["why"] = .string(why)
    object["by"] = .string(by)
    object["at"] = .integer(at.millisecondsSince1970)
    return object
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
    default: return nil
    }
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
    }
    object["at"] = .integer(at.millisecondsSince1970)
    return object
  }
}
