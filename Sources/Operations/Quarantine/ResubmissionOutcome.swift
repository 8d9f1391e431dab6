// The result of resubmitting a body, for people and scripts. Pure.

package import AppStore
package import KafkaClient
package import MillraceRecords

/// The result of resubmitting one body.
package struct ResubmissionOutcome: Sendable, Hashable, Reportable {
  /// The possible results.
  package enum Result: Sendable, Hashable {
    /// The body is admitted and would be written (`--dry-run`).
    case admitted
    /// The record was written to its topic.
    case written(RecordPosition)
    /// The body is still refused.
    case refused(Refusal)
    /// The body is admitted, but writing to Kafka failed.
    case failed(KafkaError)
  }

  /// The body's ID in the quarantine.
  package var id: String
  /// The topic of the record; nil if the body is refused.
  package var topic: String?
  /// The record's `ce_id`, which is the same as if the ingress had admitted the body. Readers detect duplicates by it.
  package var notificationID: String?
  /// The result.
  package var result: Result

  /// Creates an outcome.
  package init(id: String, topic: String? = nil, notificationID: String? = nil, result: Result) {
    self.id = id
    self.topic = topic
    self.notificationID = notificationID
    self.result = result
  }

  /// The cells of one table row: ID, result, and topic or reason.
  package var row: [TextCell] {
    let id = TextCell(String(id.prefix(QuarantineEntry.shownDigits)), .cyan)
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
  package static let columns = [
    TextColumn("ID", minimumWidth: 16), TextColumn("RESULT", minimumWidth: 16), TextColumn(""),
  ]

  /// The outcome as a JSON object.
  package var json: JSONObject {
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

  /// The outcome as one line of JSON, without a line feed.
  package var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

/// The counts of a resubmission.
package struct ResubmissionSummary: Sendable, Hashable {
  /// Bodies admitted, and written unless it was a dry run.
  package var admitted = 0
  /// Bodies still refused.
  package var refused = 0
  /// Bodies admitted but not written to Kafka.
  package var failed = 0

  /// All counts zero.
  package init() {}

  /// Counts one outcome.
  package mutating func add(_ outcome: ResubmissionOutcome) {
    switch outcome.result {
    case .admitted, .written: admitted += 1
    case .refused: refused += 1
    case .failed: failed += 1
    }
  }

  /// The counts as one sentence.
  package func sentence(isDryRun: Bool) -> String {
    "\(admitted) \(isDryRun ? "would be written" : "written"), \(refused) still refused"
      + (failed > 0 ? ", \(failed) not written to Kafka: run the command again" : "") + "."
  }

  /// The exit status. Bodies that are still refused are a failure if they were named, but not with `--all`.
  package func status(named: Bool) -> CommandStatus {
    failed > 0 || (named && refused > 0) ? .failure : .success
  }
}
