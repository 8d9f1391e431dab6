// Judges a demonstration: compares the posted bodies with the records in Kafka, without I/O.
import KafkaClient
import MillraceRecords

struct DemoResult {
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
  /// A sentence for each violated expectation.
  private(set) var faults: [String] = []

  var isAsPromised: Bool { faults.isEmpty }

  /// - Parameter everyKind: Whether every type and subtype must have been sent.
  init(
    journal: [JournalEntry], tally: SimulatorTally, everyKind: Bool, notifications: [ConsumerRecord],
    quarantine: [ConsumerRecord]
  ) {
    let arrived = Dictionary(grouping: notifications) { $0.value ?? [] }
    let kept = Dictionary(grouping: quarantine) { $0.value ?? [] }
    for group in JournalEntry.Group.allCases {
      let entries = journal.filter { $0.group == group }
      guard !entries.isEmpty else { continue }
      var row = Row(group: group, posted: entries.count)
      for entry in entries {
        if entry.status == 200 { row.accepted += 1 } else { row.refused[entry.status, default: 0] += 1 }
      }
      // Bodies that were posted more than once are judged once.
      for posts in Dictionary(grouping: entries, by: \.value).values {
        guard let entry = posts.first else { continue }
        let copies = arrived[entry.value] ?? []
        let copiesKept = kept[entry.value] ?? []
        row.arrived += copies.count
        row.kept += copiesKept.count
        let found = Self.faults(of: posts, arrived: copies, kept: copiesKept) + Self.faults(of: copies, about: entry)
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
    faults += tally.faults(journal: journal, notifications: notifications)
    if everyKind { faults += tally.missing.map { "\($0) was not sent" } }
  }

  /// Checks the answers to one body and the number of its records in each place.
  private static func faults(
    of posts: [JournalEntry], arrived: [ConsumerRecord], kept: [ConsumerRecord]
  ) -> [String] {
    guard let entry = posts.first else { return [] }
    var faults: [String] = []
    func expect(_ count: Int, in range: ClosedRange<Int>, _ place: String) {
      guard !range.contains(count) else { return }
      let expected = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      faults.append("\(count) times in \(place), expected \(expected)")
    }
    if entry.destination == .notifications {
      let accepted = posts.count { $0.status == 200 }
      // After a 503 or no answer, the record may be in Kafka, and the retry then writes it again.
      let unclear = posts.count { $0.status == 0 || $0.status >= 500 }
      for post in posts where post.status != 200 && post.status != 0 { faults.append("answered \(post.status)") }
      expect(arrived.count, in: accepted...(accepted + unclear), "its topic")
      expect(kept.count, in: 0...0, "quarantine")
    } else {
      for post in posts where !post.isAnsweredAsExpected {
        faults.append("answered \(post.status), expected \(post.expectedStatus)")
      }
      let times = entry.destination == .quarantine ? posts.count : 0
      expect(arrived.count, in: 0...0, "a topic")
      expect(kept.count, in: times...times, "quarantine")
    }
    return faults
  }

  /// Checks the keys and headers of accepted notifications.
  private static func faults(of records: [ConsumerRecord], about entry: JournalEntry) -> [String] {
    guard entry.destination == .notifications else { return [] }
    var faults: [String] = []
    for record in records {
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
