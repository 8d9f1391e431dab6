// The results of a stage: events, tables and dead letters.

package import AppStore
internal import KafkaClient
package import MillraceRecords
internal import MillraceTesting
internal import MillraceWorker

/// An event as its consumer reads it.
package struct StagedEvent: Sendable {
  /// `ce_id`.
  package var id: String
  /// The event's name, without `dev.millrace.<worker>.`.
  package var name: String
  /// The time when it was written.
  package var at: Timestamp
  /// The content.
  package var data: JSONObject
  /// The `ce_id` of the event that it replaces.
  package var supersedes: String?
}

extension WorkerStage {
  /// Returns the events that the worker has published.
  package func events() throws -> [StagedEvent] {
    try log.records(in: topics.events).map { record in
      func header(_ name: String) -> String? {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
      }
      return StagedEvent(
        id: header("ce_id") ?? "",
        name: String((header("ce_type") ?? "").dropFirst("dev.millrace.\(Worker.name).".count)),
        at: Timestamp(millisecondsSince1970: record.timestamp ?? 0), data: try JSONObject(parsing: record.value ?? []),
        supersedes: header("ce_supersedes"))
    }
  }

  /// Returns a table as a consumer sees it after reading the whole topic.
  package func table(_ topic: String) throws -> [String: JSONObject] {
    var rows: [String: JSONObject] = [:]
    for record in log.records(in: topic) {
      rows[String(decoding: record.key ?? [], as: UTF8.self)] = try record.value.map { try JSONObject(parsing: $0) }
    }
    return rows
  }

  /// Returns the dead letters that the worker has written.
  package func deadLetters() -> [DeadLetter] {
    log.records(in: topics.deadLetters).compactMap { DeadLetter($0.headers) }
  }
}
