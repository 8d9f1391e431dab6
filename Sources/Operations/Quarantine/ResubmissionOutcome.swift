// What became of one body that was resubmitted, for people and scripts. Pure.

public import AppStore
public import Kafka
public import Millrace

/// What became of one body.
public struct ResubmissionOutcome: Sendable, Hashable, Reportable {
  /// The three ways it can end.
  public enum Result: Sendable, Hashable {
    /// It is admitted now and would be written (`--dry-run`).
    case admitted
    /// It is in its topic.
    case written(RecordPosition)
    /// It is still refused.
    case refused(Refusal)
    /// It is admitted now, and Kafka did not take it.
    case failed(KafkaError)
  }

  /// The id of the body in the quarantine.
  public var id: String
  /// The topic it goes to; nil where it is refused.
  public var topic: String?
  /// `ce_id` of its record, the same as if the ingress had admitted it: readers know the notification by it.
  public var notificationID: String?
  /// How it ended.
  public var result: Result

  /// One outcome.
  public init(id: String, topic: String? = nil, notificationID: String? = nil, result: Result) {
    self.id = id
    self.topic = topic
    self.notificationID = notificationID
    self.result = result
  }

  /// One line for a person: id, what happened, where or why.
  public var row: [TextCell] {
    let id = TextCell(String(id.prefix(QuarantineInventory.shownDigits)), .cyan)
    switch result {
    case .admitted: return [id, TextCell("would be written", .green), TextCell(topic ?? "")]
    case .written(let position):
      return [
        id, TextCell("written", .green), TextCell("\(position.topic)[\(position.partition)]@\(position.offset)"),
      ]
    case .refused(let refusal): return [id, TextCell("still refused", .yellow), TextCell("\(refusal)")]
    case .failed(let error): return [id, TextCell("not written", .red), TextCell("\(error)")]
    }
  }

  /// The columns of ``row``.
  public static let columns = [
    TextColumn("ID", minimumWidth: 16), TextColumn("RESULT", minimumWidth: 16), TextColumn(""),
  ]

  /// One object for a script.
  public var json: JSONObject {
    var json: JSONObject = ["id": .string(id)]
    switch result {
    case .admitted: json["result"] = "admitted"
    case .written(let position):
      json["result"] = "written"
      json["partition"] = .integer(Int64(position.partition))
      json["offset"] = .integer(position.offset)
    case .refused(let refusal):
      json["result"] = "refused"
      json["reason"] = .string(refusal.reason.rawValue)
      json["message"] = .string(refusal.message)
    case .failed(let error):
      json["result"] = "failed"
      json["message"] = .string("\(error)")
    }
    json.set("topic", topic)
    json.set("notificationId", notificationID)
    return json
  }

  /// One line, without a line feed.
  public var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

/// How a resubmission went as a whole.
public struct ResubmissionSummary: Sendable, Hashable {
  /// Admitted, and written unless it was a dry run.
  public var admitted = 0
  /// Still refused.
  public var refused = 0
  /// Admitted and not taken by Kafka.
  public var failed = 0

  /// Nothing yet.
  public init() {}

  /// Counts one outcome.
  public mutating func add(_ outcome: ResubmissionOutcome) {
    switch outcome.result {
    case .admitted, .written: admitted += 1
    case .refused: refused += 1
    case .failed: failed += 1
    }
  }

  /// One line.
  public func sentence(isDryRun: Bool) -> String {
    "\(admitted) \(isDryRun ? "would be written" : "written"), \(refused) still refused"
      + (failed > 0 ? ", \(failed) not taken by Kafka: run it again" : "") + "."
  }

  /// How the process ends. That a body is still refused is what was to be found out with `--all`; of a body that was
  /// named somebody expected better.
  public func status(named: Bool) -> CommandStatus {
    failed > 0 || (named && refused > 0) ? .failure : .success
  }
}
