// The audit trail for people and scripts: one entry per run, folded from its records. Pure.

package import AppStore
package import MillraceRecords

/// An operator's action and its result so far.
package struct AuditEntry: Sendable, Hashable {
  /// The run's ID.
  package var run: String
  /// The kind of action.
  package var action: AuditRecord.Action
  /// The operator.
  package var by: String
  /// The program that recorded the start.
  package var source: String
  /// The start time.
  package var startedAt: Timestamp
  /// The end of the part that finished last.
  package var endedAt: Timestamp?
  /// The operator's reason.
  package var why: String?
  /// The object of the action, such as a worker or a run.
  package var target: String?
  /// The records that the action covers.
  package var selection: JSONObject?
  /// The number of parts.
  package var parts: Int
  /// The results of the finished parts, by part name.
  package var results: [String: AuditRecord.Result] = [:]
  /// The counts of all finished parts, summed by name, in the order in which they were reported.
  package var counts: [AuditRecord.Count] = []

  /// Whether every part has finished or the run was ended as a whole.
  package var isOver: Bool { results[AuditRecord.everything] != nil || results.count >= parts }

  /// The overall result, which is the worst result of any part; nil while parts are running.
  package var result: AuditRecord.Result? {
    guard isOver else { return nil }
    return results.sorted { $0.key < $1.key }.map(\.value).first { $0 != .done } ?? .done
  }

  /// Whether the run is over and had no effect.
  var hasFailed: Bool { result?.rawValue == "failed" }

  /// The entry as a JSON object; unknown values are omitted.
  package var json: JSONObject {
    var json: JSONObject = ["run": .string(run), "action": .string(action.rawValue), "by": .string(by)]
    json.set("source", source.isEmpty ? nil : source)
    json["startedAt"] = .string(startedAt.rfc3339)
    json.set("endedAt", isOver ? endedAt?.rfc3339 : nil)
    json.set("result", result?.rawValue)
    json.set("detail", result?.detail)
    json["parts"] = .integer(Int64(parts))
    json["partsOver"] = .integer(Int64(results.count))
    json["counts"] = .object(
      JSONObject(counts.map { JSONObject.Member(key: $0.name, value: .integer($0.count)) }))
    json.set("why", why)
    json.set("target", target)
    json["selection"] = selection.map { .object($0) }
    return json
  }

  /// The record that ends the whole run.
  func end(
    _ result: AuditRecord.Result, _ counts: [AuditRecord.Count], by: String, source: String, at time: Timestamp
  ) -> AuditRecord {
    AuditRecord(
      run: run, action, .ended(part: AuditRecord.everything, result: result, counts: counts), by: by, source: source,
      at: time, target: target)
  }
}

/// The folded content of the audit topic.
package struct AuditTrail: Sendable, Hashable {
  private var byName: [String: AuditEntry] = [:]
  private var order: [String] = []
  private var seen: Set<String> = []
  // Ends whose start is missing, because retention deleted it or because it arrives later. Kept until it arrives.
  private var early: [String: [AuditRecord]] = [:]
  /// The number of records that are not audit records.
  package private(set) var foreignCount = 0

  /// An empty trail.
  package init() {}

  /// Adds a record; nil stands for an unreadable one. Adding the same record twice has no effect.
  package mutating func fold(_ record: AuditRecord?) {
    guard let record else {
      foreignCount += 1
      return
    }
    guard seen.insert(record.id).inserted else { return }
    let name = record.name
    switch record.phase {
    case .started(let parts):
      guard byName[name] == nil else { return }
      order.append(name)
      byName[name] = AuditEntry(
        run: record.run, action: record.action, by: record.by, source: record.source, startedAt: record.at,
        why: record.why, target: record.target, selection: record.selection, parts: parts)
      for end in early.removeValue(forKey: name) ?? [] { add(end, to: name) }
    case .ended:
      if byName[name] == nil { early[name, default: []].append(record) } else { add(record, to: name) }
    }
  }

  private mutating func add(_ record: AuditRecord, to name: String) {
    guard var entry = byName[name], case .ended(let part, let result, let counts) = record.phase else { return }
    entry.results[part] = result
    entry.endedAt = entry.endedAt.map { max($0, record.at) } ?? record.at
    for count in counts {
      if let index = entry.counts.firstIndex(where: { $0.name == count.name }) {
        entry.counts[index].count += count.count
      } else {
        entry.counts.append(count)
      }
    }
    byName[name] = entry
  }

  /// The entries, ordered by start time.
  package var entries: [AuditEntry] { order.compactMap { byName[$0] } }
}
