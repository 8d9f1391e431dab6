// What became of one command, for people and scripts. Pure.

public import AppStore
internal import Millrace

/// A step of one command.
public struct OperationReport: Sendable, Hashable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    /// The command is the first for its item: it stands.
    case accepted
    /// A replay went on; the next offset to send, and how many records are behind it of how many.
    case progress(next: Int64, sent: Int64, of: Int64)
    /// The lane's owner did it.
    case done
    /// It cannot be done.
    case failed(String)
    /// Somebody else's command came first.
    case lost(by: String, at: Timestamp, why: String, standing: String)
    /// No owner of the lane has answered yet. The command stands.
    case unanswered
  }

  /// What it is about: `dead-letters/<lane>/<offset>`, or the id of a replay.
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
    case .progress(_, let sent, let total): return [name, TextCell("going on", .dim), TextCell("\(sent) of \(total)")]
    case .done: return [name, TextCell("sent again", .green), TextCell("lane \(lane)", .dim)]
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
    var json: JSONObject = ["item": .string(item), "command": .string(command), "lane": .integer(Int64(lane))]
    switch event {
    case .accepted: json["event"] = "accepted"
    case .progress(let next, let sent, let total):
      json["event"] = "progress"
      json["next"] = .integer(next)
      json["sent"] = .integer(sent)
      json["of"] = .integer(total)
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
  /// Executed.
  public var done = 0
  /// Cannot be executed.
  public var failed = 0
  /// Came second.
  public var lost = 0
  /// Stand, and nobody has executed them yet.
  public var unanswered = 0

  /// Nothing yet.
  public init() {}

  /// One line.
  public var sentence: String {
    [
      "\(done) sent again", failed > 0 ? "\(failed) not done" : nil, lost > 0 ? "\(lost) came second" : nil,
      unanswered > 0 ? "\(unanswered) unanswered: executed as soon as the worker runs" : nil,
    ].compactMap { $0 }.joined(separator: ", ") + "."
  }

  /// How the process ends.
  public var status: CommandStatus { failed + lost + unanswered == 0 ? .success : .failure }
}

/// Prints reports as they come, as rows or as JSON lines.
public struct OperationReporter: Sendable {
  private let output: Output
  private let asJSON: Bool

  /// Prints to a place.
  public init(_ output: Output, asJSON: Bool) {
    self.output = output
    self.asJSON = asJSON
  }

  /// Prints one report.
  /// - Throws: ``OperationError`` of kind `outputClosed` where the reader is gone.
  public func report(_ report: OperationReport) throws(OperationError) {
    if asJSON { return try output.line(report.jsonLine) }
    var table = StreamingTable(OperationReport.columns, lineWidth: output.width, usesColor: output.usesColor)
    try output.lines(table.lines(report.row))
  }
}
