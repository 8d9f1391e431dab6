// The progress and result of commands, for people and scripts. Pure.

package import AppStore
internal import MillraceWorker

/// A step of one command.
package struct OperationReport: Sendable, Hashable, Reportable {
  /// The kind of step.
  package enum Event: Sendable, Hashable {
    /// The command is the first for its item and takes effect.
    case accepted
    /// The lane's owner executed it.
    case done
    /// It failed.
    case failed(String)
    /// Another operator's command for the item came first.
    case lost(by: String, at: Timestamp, why: String, status: String)
    /// The lane's owner has not answered yet. The command remains in effect.
    case unanswered
  }

  /// An action on a dead letter or a customer.
  package enum Action: String, Sendable, Hashable, CaseIterable {
    /// Requeue it.
    case requeue
    /// Discard it for good.
    case discard
    /// Erase the customer.
    case erase

    /// The result of the action.
    package var participle: String {
      switch self {
      case .requeue: "sent again"
      case .discard: "discarded"
      case .erase: "erased"
      }
    }

    /// The name of the count in the audit trail.
    var count: String { self == .requeue ? "requeued" : participle }
  }

  /// The action.
  package var action = Action.requeue
  /// The item: `dead-letters/<lane>/<offset>` or `erasures/<mark>/<command>`.
  package var item: String
  /// The command's ID.
  package var command: String
  /// The lane that executes the command.
  package var lane: Int32
  /// The step.
  package var event: Event

  /// The columns of ``row``.
  package static let columns = [
    TextColumn("ITEM", minimumWidth: 20), TextColumn("RESULT", minimumWidth: 12), TextColumn(""),
  ]

  /// The cells of one table row.
  package var row: [TextCell] {
    let name = TextCell(item, .cyan)
    switch event {
    case .accepted: return [name, TextCell("accepted", .dim), TextCell("lane \(lane)", .dim)]
    case .done: return [name, TextCell(action.participle, .green), TextCell("lane \(lane)", .dim)]
    case .failed(let detail): return [name, TextCell("failed", .red), TextCell(detail)]
    case .lost(let by, let at, let why, let status):
      let reason = why.isEmpty ? "" : ": \(why)"
      return [
        name, TextCell("superseded", .yellow),
        TextCell("\(by) asked first, \(RecordView.seconds(at)), \(status)\(reason)"),
      ]
    case .unanswered:
      return [name, TextCell("unanswered", .yellow), TextCell("the command is pending; is lane \(lane) owned?")]
    }
  }

  /// The report as one line of JSON, without a line feed.
  package var jsonLine: String {
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
    case .lost(let by, let at, let why, let status):
      json["event"] = "lost"
      json["by"] = .string(by)
      json["at"] = .string(at.rfc3339)
      json["why"] = .string(why)
      json["status"] = .string(status)
    case .unanswered: json["event"] = "unanswered"
    }
    return String(decoding: JSON.object(json).serialized(), as: UTF8.self)
  }
}

/// The counts of a run of commands.
package struct OperationSummary: Sendable, Hashable {
  /// The action.
  package var action = OperationReport.Action.requeue
  /// The run's ID, for control commands and the audit trail; nil if there was nothing to do.
  package var run: String?
  /// The number of executed commands.
  package var done = 0
  /// The number of failed commands.
  package var failed = 0
  /// The number of commands for items that already had another operator's command.
  package var lost = 0
  /// The number of commands in effect that no worker has executed yet.
  package var unanswered = 0
  /// The number of commands not sent because an operator stopped the run.
  package var withheld = 0
  /// The skipped records, which are not commands.
  package var passedOver = PassedOver()

  /// All counts zero.
  package init(action: OperationReport.Action = .requeue) { self.action = action }

  /// The counts as one sentence.
  package var sentence: String {
    [
      "\(done) \(action.participle)", failed > 0 ? "\(failed) failed" : nil, lost > 0 ? "\(lost) superseded" : nil,
      unanswered > 0 ? "\(unanswered) unanswered: the worker executes them when it runs" : nil,
      withheld > 0 ? "\(withheld) not sent: the run was stopped" : nil,
    ].compactMap { $0 }.joined(separator: ", ") + "." + (passedOver.sentence.map { " \($0)" } ?? "")
  }

  /// Adds the counts of another run of the same action, which becomes ``run``.
  mutating func add(_ other: OperationSummary) {
    run = other.run ?? run
    done += other.done
    failed += other.failed
    lost += other.lost
    unanswered += other.unanswered
    withheld += other.withheld
  }

  /// The exit status.
  package var status: CommandStatus { failed + lost + unanswered == 0 ? .success : .failure }
}
