// The audit trail as people and scripts see it: one entry for each run, folded from its records. Pure.

public import AppStore
public import Millrace

/// One action with its end, as far as it is known.
public struct AuditEntry: Sendable, Hashable {
  /// The run's id.
  public var run: String
  /// What was done.
  public var action: AuditRecord.Action
  /// Who asked for it.
  public var by: String
  /// Which program said that it begins.
  public var source: String
  /// When it began.
  public var startedAt: Timestamp
  /// When the last part that is over ended.
  public var endedAt: Timestamp?
  /// Why.
  public var why: String?
  /// To what.
  public var target: String?
  /// Which records.
  public var selection: JSONObject?
  /// How many parts it has.
  public var parts: Int
  /// How the parts ended that are over, by their names.
  public var results: [String: AuditRecord.Result] = [:]
  /// How many of what, over all parts that are over, in the order in which they were told.
  public var counts: [AuditRecord.Count] = []

  /// Whether every part is over, or it was ended as a whole.
  public var isOver: Bool { results[AuditRecord.everything] != nil || results.count >= parts }

  /// How it ended, in a word: the worst result of a part; nil while parts go on.
  public var result: AuditRecord.Result? {
    guard isOver else { return nil }
    return results.sorted { $0.key < $1.key }.map(\.value).first { $0 != .done } ?? .done
  }

  /// The entry as a JSON object; what is not known is left out.
  public var json: JSONObject {
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

  /// The record that ends all of it.
  func end(
    _ result: AuditRecord.Result, _ counts: [AuditRecord.Count], by: String, source: String, at time: Timestamp
  ) -> AuditRecord {
    AuditRecord(
      run: run, action, .ended(part: AuditRecord.everything, result: result, counts: counts), by: by, source: source,
      at: time, target: target)
  }

  /// One line, without a line feed.
  public var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

/// Everything in the audit trail, folded.
public struct AuditTrail: Sendable, Hashable {
  private var byName: [String: AuditEntry] = [:]
  private var order: [String] = []
  private var seen: Set<String> = []
  // Ends whose beginning retention took, or that were written before it: kept until it comes.
  private var early: [String: [AuditRecord]] = [:]
  /// Records that are none of the audit's.
  public private(set) var foreignCount = 0

  /// An empty trail.
  public init() {}

  /// Takes the next record in; nil for one that cannot be read. The same record again changes nothing.
  public mutating func fold(_ record: AuditRecord?) {
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

  /// The entries, those that began last at the end.
  public var entries: [AuditEntry] { order.compactMap { byName[$0] } }

  /// The last entry of a run with that action.
  public func entry(of run: String, _ action: AuditRecord.Action) -> AuditEntry? {
    entries.last { $0.run == run && $0.action == action }
  }
}
