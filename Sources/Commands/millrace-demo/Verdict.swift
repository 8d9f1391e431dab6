// Was everything as promised? Decided from what was posted and what is in Kafka, without I/O.
import Kafka
import Millrace

struct Verdict {
  /// One row of the summary.
  struct Row {
    var group: JournalEntry.Group
    var posted = 0
    var accepted = 0
    var arrived = 0
    var kept = 0
    var refused: [Int: Int] = [:]
    var faults = 0
  }

  private(set) var rows: [Row] = []
  /// A sentence for each thing that is not as it should be.
  private(set) var faults: [String] = []

  var isAsPromised: Bool { faults.isEmpty }

  init(journal: [JournalEntry], notifications: [ConsumerRecord], quarantine: [ConsumerRecord]) {
    let arrived = Dictionary(grouping: notifications) { $0.value ?? [] }
    let kept = Dictionary(grouping: quarantine) { $0.value ?? [] }
    for group in JournalEntry.Group.allCases {
      let entries = journal.filter { $0.group == group }
      guard !entries.isEmpty else { continue }
      var row = Row(group: group, posted: entries.count)
      for entry in entries {
        let copies = arrived[entry.value] ?? []
        let copiesKept = kept[entry.value] ?? []
        row.arrived += copies.count
        row.kept += copiesKept.count
        if entry.status == 200 { row.accepted += 1 } else { row.refused[entry.status, default: 0] += 1 }
        let found = Self.faults(of: entry, arrived: copies, kept: copiesKept)
        row.faults += found.count
        faults += found.map { "\(entry.label): \($0)" }
      }
      rows.append(row)
    }
    let expected = Set(journal.filter { $0.destination == .notifications }.map(\.value))
    for record in notifications where !expected.contains(record.value ?? []) {
      faults.append("\(record.topic)[\(record.partition)]@\(record.offset) holds something that was not accepted")
    }
    let refused = Set(journal.filter { $0.destination == .quarantine }.map(\.value))
    for record in quarantine where !refused.contains(record.value ?? []) {
      faults.append("\(record.topic)[\(record.partition)]@\(record.offset) holds something that was not refused")
    }
  }

  private static func faults(
    of entry: JournalEntry, arrived: [ConsumerRecord], kept: [ConsumerRecord]
  ) -> [String] {
    var faults: [String] = []
    if !entry.isAnsweredAsExpected { faults.append("answered \(entry.status) instead of \(entry.expectedStatus)") }
    let (inTopics, inQuarantine) =
      switch entry.destination {
      case .notifications: (1, 0)
      case .quarantine: (0, 1)
      case .nowhere: (0, 0)
      }
    if arrived.count != inTopics { faults.append("\(arrived.count) times in its topic instead of \(inTopics)") }
    if kept.count != inQuarantine { faults.append("\(kept.count) times in quarantine instead of \(inQuarantine)") }
    for record in arrived where entry.destination == .notifications {
      let envelope = NotificationEnvelope(record)
      if !envelope.problems.isEmpty { faults.append("headers: \(envelope.problems)") }
      if let key = entry.key, record.key.map({ String(decoding: $0, as: UTF8.self) }) != key {
        faults.append("its key is not \(key)")
      }
      let type = record.headers.last { $0.name == "ce_type" }?.value.map { String(decoding: $0, as: UTF8.self) }
      if type != entry.type { faults.append("ce_type is \(type ?? "missing") instead of \(entry.type ?? "none")") }
    }
    return faults
  }
}
