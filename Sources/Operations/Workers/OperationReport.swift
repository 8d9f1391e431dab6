// What became of one command, for people and scripts. Pure.

public import AppStore
internal import Millrace

/// A step of one command.
public struct OperationReport: Sendable, Hashable, Reportable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    /// The command is the first for its item: it stands.
    case accepted
    /// The lane's owner did it.
    case done
    /// It cannot be done.
    case failed(String)
    /// Somebody else's command came first.
    case lost(by: String, at: Timestamp, why: String, standing: String)
    /// No owner of the lane has answered yet. The command stands.
    case unanswered
  }

  /// What is done to a dead letter.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// Tried again.
    case requeue
    /// Put aside for good.
    case discard

    /// What has become of it then.
    public var participle: String { self == .requeue ? "sent again" : "discarded" }
  }

  /// What is done.
  public var action = Action.requeue
  /// What it is about: `dead-letters/<lane>/<offset>`.
  public var item: String
  /// The command.
  public var command: String
  /// The lane that executes it.
  public var lane: Int32
  /// What happened.
  public var event: Event

  /// The columns of ``row``.
  public static let columns = [
    TextColumn("ITEM", minimumWidth: 20), TextColumn("RESULT", minimumWidth: 12), TextColumn(""),
  ]

  /// One line for a person.
  public var row: [TextCell] {
    let name = TextCell(item, .cyan)
    switch event {
    case .accepted: return [name, TextCell("accepted", .dim), TextCell("lane \(lane)", .dim)]
    case .done: return [name, TextCell(action.participle, .green), TextCell("lane \(lane)", .dim)]
    case .failed(let detail): return [name, TextCell("not done", .red), TextCell(detail)]
    case .lost(let by, let at, let why, let standing):
      let reason = why.isEmpty ? "" : ": \(why)"
      return [
        name, TextCell("came second", .yellow),
        TextCell("\(by) asked first, \(RecordView.seconds(at)), \(standing)\(reason)"),
      ]
    case .unanswered:
      return [name, TextCell("unanswered", .yellow), TextCell("the command stands; nobody owns lane \(lane) yet?")]
    }
  }

  /// One object for a script, without a line feed.
  public var jsonLine: String {
    var json: JSONObject = [
      "item": .string(item), "action": .string(action.rawValue), "command": .string(command),
      "lane": .integer(Int64(lane)),
    ]
    switch event {
    case .accepted: json["event"] = "accepted"
    case .done: json["event"] = "done"
    case .failed(let detail):
      json["event"] = "failed"
      json["detail"] = .string(detail)
    case .lost(let by, let at, let why, let standing):
      json["event"] = "lost"
      json["by"] = .string(by)
      json["at"] = .string(at.rfc3339)
      json["why"] = .string(why)
      json["standing"] = .string(standing)
    case .unanswered: json["event"] = "unanswered"
    }
    return String(decoding: JSON.object(json).serialized(), as: UTF8.self)
  }
}

/// How commands went as a whole.
public struct OperationSummary: Sendable, Hashable {
  /// What was to be done.
  public var action = OperationReport.Action.requeue
  /// The run's id, by which others steer it and the audit trail knows it; nil: there was nothing to do.
  public var run: String?
  /// Executed.
  public var done = 0
  /// Cannot be executed.
  public var failed = 0
  /// Came second.
  public var lost = 0
  /// Stand, and nobody has executed them yet.
  public var unanswered = 0
  /// Not asked for any more: an operator ended it.
  public var withheld = 0
  /// Records among the commands that are none.
  public var passedOver = PassedOver()

  /// Nothing yet.
  public init() {}

  /// One line.
  public var sentence: String {
    [
      "\(done) \(action.participle)", failed > 0 ? "\(failed) not done" : nil, lost > 0 ? "\(lost) came second" : nil,
      unanswered > 0 ? "\(unanswered) unanswered: executed as soon as the worker runs" : nil,
      withheld > 0 ? "\(withheld) left as they are: the run was stopped" : nil,
    ].compactMap { $0 }.joined(separator: ", ") + "." + (passedOver.sentence.map { " \($0)" } ?? "")
  }

  /// How the process ends.
  public var status: CommandStatus { failed + lost + unanswered == 0 ? .success : .failure }
}
